// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Geo
import TestKit
import Testing

@testable import Positioning

/// A source that a test plays.
@LoopActor private final class PlayedSource: LocationSource {
    let name: String
    let bestAccuracyMetres: Double
    private(set) var receiver: (@LoopActor (SourceEvent) -> Void)?

    init(_ name: String, accuracy: Double = 5) {
        self.name = name
        bestAccuracyMetres = accuracy
    }

    func start(_ receiver: @escaping @LoopActor (SourceEvent) -> Void) { self.receiver = receiver }

    func stop() { receiver = nil }
}

@Suite @LoopActor struct LocatorTests {
    private let clock = ManualTimekeeper()
    private let locator: Locator
    private let gps = PlayedSource("gps")
    private let web = PlayedSource("web", accuracy: 3000)
    private let fixes = Mailbox<Fix>()
    private let news = Mailbox<Locator.Availability>()

    init() {
        locator = Locator(clock: clock)
        locator.onFix = { [fixes] in fixes.append($0) }
        locator.onAvailability = { [news] in news.append($0) }
        locator.replaceSources([gps, web])
    }

    private func fix(_ accuracy: Double, second: Int64 = 0) throws -> Fix {
        Fix(
            coordinate: try #require(Coordinate(latitude: 48, longitude: 16)),
            horizontalAccuracy: accuracy,
            timestamp: Timestamp(microseconds: 1_750_000_000_000_000 + second * 1_000_000),
            source: "test"
        )
    }

    @Test func `sources run exactly while fixes are wanted`() {
        #expect(gps.receiver == nil && web.receiver == nil)
        locator.isWanted = true
        #expect(gps.receiver != nil && web.receiver != nil)
        locator.isWanted = false
        #expect(gps.receiver == nil && web.receiver == nil)
        locator.isWanted = true
        let other = PlayedSource("other")
        locator.replaceSources([other])
        #expect(gps.receiver == nil && other.receiver != nil)
    }

    @Test func `an outage begins when the last source has failed and ends with the first`() {
        locator.isWanted = true
        gps.receiver?(.unavailable(reason: "gone"))
        #expect(news.contents == [.available])
        #expect(locator.availableAccuracyMetres == 3000)
        web.receiver?(.unavailable(reason: "gone"))
        web.receiver?(.unavailable(reason: "still gone"))
        #expect(news.contents == [.available, .unavailable])
        #expect(locator.availableAccuracyMetres == nil)
        gps.receiver?(.available)
        #expect(news.contents == [.available, .unavailable, .available])
        #expect(locator.availableAccuracyMetres == 5)
    }

    @Test func `a poor fix does not follow a good one while that is fresh`() throws {
        locator.isWanted = true
        web.receiver?(.fix(try fix(3000)))
        gps.receiver?(.fix(try fix(5)))
        web.receiver?(.fix(try fix(3000, second: 1)))
        #expect(fixes.contents.map(\.horizontalAccuracy) == [3000, 5])
        clock.advance(by: .seconds(10))
        web.receiver?(.fix(try fix(3000, second: 11)))
        #expect(fixes.contents.map(\.horizontalAccuracy) == [3000, 5, 3000])
        #expect(locator.latest?.fix.horizontalAccuracy == 3000)
        #expect(locator.latest?.receivedAt == clock.now)
    }

    @Test func `when the followed source fails another one takes over at once`() throws {
        locator.isWanted = true
        gps.receiver?(.fix(try fix(5)))
        gps.receiver?(.unavailable(reason: "gone"))
        web.receiver?(.fix(try fix(3000)))
        #expect(fixes.contents.map(\.horizontalAccuracy) == [5, 3000])
    }

    @Test func `of two receivers one is followed`() throws {
        locator.replaceSources([gps, PlayedSource("spare"), web])
        locator.isWanted = true
        var selector = FixSelector()
        let now = clock.now
        #expect(selector.accepts(try fix(5), from: 0, at: now))
        #expect(!selector.accepts(try fix(4), from: 1, at: now))
        #expect(selector.accepts(try fix(2.5), from: 1, at: now))
        #expect(!selector.accepts(try fix(2, second: 1), from: 0, at: now))
    }

    @Test func `a fix that is older than the last one of its source is late news`() throws {
        var selector = FixSelector()
        let now = clock.now
        #expect(selector.accepts(try fix(5, second: 10), from: 0, at: now))
        #expect(!selector.accepts(try fix(5, second: 9), from: 0, at: now))
        #expect(selector.accepts(try fix(5, second: 11), from: 0, at: now))
        // A recording that begins anew.
        #expect(selector.accepts(try fix(5, second: -600), from: 0, at: now))
    }

    @Test func `the last fix is kept after a stop, and not for other sources`() throws {
        locator.isWanted = true
        gps.receiver?(.fix(try fix(5)))
        locator.isWanted = false
        #expect(locator.latest?.fix.horizontalAccuracy == 5)
        locator.replaceSources([web])
        #expect(locator.latest == nil)
    }
}
