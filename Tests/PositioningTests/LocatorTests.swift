// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Geo
import Positioning
import TestKit
import Testing

/// A source that does what the test says.
@LoopActor private final class Puppet: LocationSource {
    let name = "puppet"
    let bestAccuracyMetres: Double
    private(set) var startCount = 0
    private(set) var stopCount = 0
    private var receiver: (@LoopActor (SourceEvent) -> Void)?

    init(_ metres: Double = 5) {
        bestAccuracyMetres = metres
    }

    var isRunning: Bool { receiver != nil }

    func start(_ receiver: @escaping @LoopActor (SourceEvent) -> Void) {
        #expect(!isRunning, "started twice")
        startCount += 1
        self.receiver = receiver
    }

    func stop() {
        stopCount += 1
        receiver = nil
    }

    func tell(_ event: SourceEvent) {
        receiver?(event)
    }

    func fail() {
        tell(.unavailable(reason: "it is broken"))
    }
}

@Suite @LoopActor struct LocatorTests {
    private let clock = ManualTimekeeper()
    private let locator: Locator
    private let fixes = Mailbox<Fix>()
    private let news = Mailbox<Locator.Availability>()

    init() {
        locator = Locator(clock: clock)
        locator.onFix = { [fixes] in fixes.append($0) }
        locator.onAvailability = { [news] in news.append($0) }
    }

    private func fix(_ metres: Double = 5, latitude: Double = 48) throws -> Fix {
        Fix(
            coordinate: try #require(Coordinate(latitude: latitude, longitude: 11)),
            horizontalAccuracy: metres,
            timestamp: Timestamp(microseconds: clock.microsecondsSinceEpoch),
            source: "test"
        )
    }

    @Test func `sources run exactly while fixes are wanted`() {
        let (one, other) = (Puppet(), Puppet())
        locator.replaceSources([one, other])
        #expect(!one.isRunning && !other.isRunning)
        locator.isWanted = true
        locator.isWanted = true
        #expect(one.isRunning && other.isRunning)
        locator.isWanted = false
        locator.isWanted = false
        #expect(!one.isRunning && !other.isRunning)
        #expect(one.startCount == 1 && one.stopCount == 1)
    }

    @Test func `demand that comes and goes quickly starts and stops as often`() throws {
        let puppet = Puppet()
        locator.replaceSources([puppet])
        for _ in 0..<50 {
            locator.isWanted = true
            locator.isWanted = false
        }
        #expect(puppet.startCount == 50 && puppet.stopCount == 50)
        locator.isWanted = true
        puppet.tell(.fix(try fix()))
        #expect(fixes.contents.count == 1)
    }

    @Test func `the last fix and its arrival are kept when the sources stop`() throws {
        let puppet = Puppet()
        locator.replaceSources([puppet])
        locator.isWanted = true
        #expect(locator.latest == nil)
        let fix = try fix()
        puppet.tell(.fix(fix))
        let arrival = clock.now
        locator.isWanted = false
        clock.advance(by: .seconds(60))
        #expect(locator.latest?.fix == fix)
        #expect(locator.latest?.receivedAt == arrival)
        #expect(fixes.contents == [fix])
    }

    @Test func `a fix that is not the best is not kept`() throws {
        let (one, other) = (Puppet(), Puppet())
        locator.replaceSources([one, other])
        locator.isWanted = true
        one.tell(.fix(try fix(5)))
        other.tell(.fix(try fix(50)))
        #expect(locator.latest?.fix.horizontalAccuracy == 5)
        #expect(fixes.contents.count == 1)
        one.fail()
        other.tell(.fix(try fix(50)))
        #expect(locator.latest?.fix.horizontalAccuracy == 50)
    }

    @Test func `only when all have failed there is an outage, and one ends it`() throws {
        let (one, other) = (Puppet(5), Puppet(100))
        locator.replaceSources([one, other])
        locator.isWanted = true
        #expect(locator.availableAccuracyMetres == 5)
        one.fail()
        #expect(!news.contents.contains(.unavailable))
        #expect(locator.availableAccuracyMetres == 100)
        other.fail()
        #expect(news.contents.last == .unavailable)
        #expect(locator.availableAccuracyMetres == nil)
        let count = news.contents.count
        one.fail()
        other.fail()
        #expect(news.contents.count == count)
        one.tell(.available)
        #expect(news.contents.last == .available)
        #expect(locator.availableAccuracyMetres == 5)
        one.fail()
        #expect(news.contents.last == .unavailable)
        other.tell(.fix(try fix()))
        #expect(news.contents.last == .available)
        #expect(fixes.contents.count == 1)
        #expect(locator.availableAccuracyMetres == 100)
    }

    @Test func `availability that nobody doubted is no news`() {
        let puppet = Puppet()
        locator.replaceSources([puppet])
        locator.isWanted = true
        puppet.tell(.available)
        puppet.tell(.available)
        #expect(news.contents.isEmpty)
    }

    @Test func `what has failed may be there at the next demand`() {
        let puppet = Puppet()
        locator.replaceSources([puppet])
        locator.isWanted = true
        puppet.fail()
        #expect(news.contents == [.unavailable])
        locator.isWanted = false
        #expect(locator.availableAccuracyMetres == 5)
        locator.isWanted = true
        puppet.fail()
        #expect(news.contents.last == .unavailable)
        #expect(news.contents.count { $0 == .unavailable } == 2)
    }

    @Test func `the end of a demand ends the outage for those that watch`() {
        let puppet = Puppet()
        locator.replaceSources([puppet])
        locator.isWanted = true
        puppet.fail()
        locator.isWanted = false
        #expect(news.contents == [.unavailable, .available])
        #expect(locator.availableAccuracyMetres == 5)
    }

    @Test func `sources replaced while wanted are stopped, and the others started`() throws {
        let (old, new) = (Puppet(5), Puppet(50))
        locator.replaceSources([old])
        locator.isWanted = true
        old.tell(.fix(try fix()))
        locator.replaceSources([new])
        #expect(!old.isRunning && new.isRunning)
        #expect(locator.latest == nil)
        #expect(locator.availableAccuracyMetres == 50)
        // What is known of the old source counts nothing for the new one with its number.
        new.tell(.fix(try fix(500)))
        #expect(fixes.contents.count == 2)
    }

    @Test func `sources replaced during an outage end it`() {
        let (old, new) = (Puppet(), Puppet())
        locator.replaceSources([old])
        locator.isWanted = true
        old.fail()
        locator.replaceSources([new])
        #expect(news.contents == [.unavailable, .available])
        new.fail()
        #expect(news.contents == [.unavailable, .available, .unavailable])
    }

    @Test func `without sources nothing is available and nothing comes`() {
        locator.isWanted = true
        #expect(locator.availableAccuracyMetres == nil)
        locator.isWanted = false
        #expect(fixes.contents.isEmpty)
    }

    @Test func `demand may end from within a fix`() throws {
        let (one, other) = (Puppet(), Puppet())
        locator.replaceSources([one, other])
        locator.onFix = { [locator, fixes] fix in
            fixes.append(fix)
            locator.isWanted = false
        }
        locator.isWanted = true
        one.tell(.fix(try fix()))
        #expect(!one.isRunning && !other.isRunning)
        #expect(fixes.contents.count == 1)
        #expect(locator.latest != nil)
        locator.onFix = nil
    }

    @Test func `demand may end from within the news of an outage`() {
        let puppet = Puppet()
        locator.replaceSources([puppet])
        locator.onAvailability = { [locator] _ in locator.isWanted = false }
        locator.isWanted = true
        puppet.fail()
        #expect(!puppet.isRunning)
        #expect(locator.availableAccuracyMetres == 5)
        locator.onAvailability = nil
    }

    @Test func `demand that ends with the news of a return gets no fix`() throws {
        let puppet = Puppet()
        locator.replaceSources([puppet])
        locator.isWanted = true
        puppet.fail()
        locator.onAvailability = { [locator] _ in locator.isWanted = false }
        puppet.tell(.fix(try fix()))
        #expect(fixes.contents.isEmpty)
        #expect(locator.latest == nil)
        locator.onAvailability = nil
    }

    // MARK: A static source

    private func place(_ metres: Double = 20) throws -> any LocationSource {
        let address = SourceAddress.fixed(
            try #require(Coordinate(latitude: 48.1, longitude: 11.5)),
            accuracyMetres: metres
        )
        return try #require(
            address.makeSource(named: "home", clock: clock) { _ in
                Issue.record("it has nothing to log")
            }
        )
    }

    @Test func `a static source tells its place at each demand`() throws {
        locator.replaceSources([try place()])
        #expect(locator.availableAccuracyMetres == 20)
        for round in 1...3 {
            locator.isWanted = true
            #expect(fixes.contents.count == round - 1)
            clock.advance(by: .zero)
            #expect(fixes.contents.count == round)
            locator.isWanted = false
            clock.advance(by: .seconds(5))
        }
        let fix = try #require(fixes.contents.last)
        #expect(fix.coordinate == Coordinate(latitude: 48.1, longitude: 11.5))
        #expect(fix.horizontalAccuracy == 20)
        #expect(fix.source == "static")
        #expect(fix.timestamp.microseconds == 1_750_000_010_000_000)
        #expect(!clock.isAwaited)
    }

    @Test func `a static source is heard again when the receiver that was better fails`() throws {
        let puppet = Puppet()
        locator.replaceSources([try place(), puppet])
        locator.isWanted = true
        clock.advance(by: .zero)
        puppet.tell(.fix(try fix()))
        #expect(fixes.contents.map(\.source) == ["static", "test"])
        clock.advance(by: .seconds(3600))
        puppet.tell(.fix(try fix()))
        puppet.fail()
        clock.advance(by: .zero)
        #expect(fixes.contents.map(\.source) == ["static", "test", "test", "static"])
        #expect(fixes.contents.last?.timestamp.microseconds == clock.microsecondsSinceEpoch)
        puppet.fail()
        #expect(!clock.isAwaited, "it was not followed")
        locator.isWanted = false
        #expect(!clock.isAwaited)
    }

    @Test func `a static source is not asked again by who has lost interest`() throws {
        let puppet = Puppet()
        locator.replaceSources([try place(), puppet])
        locator.isWanted = true
        clock.advance(by: .zero)
        puppet.tell(.fix(try fix()))
        locator.onAvailability = { [locator] _ in locator.isWanted = false }
        puppet.fail()
        #expect(!clock.isAwaited)
        locator.onAvailability = nil
    }

    @Test func `a static source that is stopped at once tells nothing`() throws {
        locator.replaceSources([try place()])
        locator.isWanted = true
        locator.isWanted = false
        clock.advance(by: .seconds(5))
        #expect(fixes.contents.isEmpty)
        #expect(!clock.isAwaited)
    }
}
