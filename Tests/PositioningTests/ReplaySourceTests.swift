// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Geo
import TestKit
import Testing

@testable import Positioning

@Suite @LoopActor struct ReplaySourceTests {
    private let clock = ManualTimekeeper()
    private let events = Mailbox<SourceEvent>()
    private let lines = Mailbox<String>()
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func source(
        _ text: String?,
        speed: Double = 1,
        loops: Bool = false
    ) throws -> ReplaySource {
        let path = "\(folder.path)/track.nmea"
        if let text { try folder.write("track.nmea", text) }
        return ReplaySource(
            name: "walk",
            path: path,
            speed: speed,
            loops: loops,
            clock: clock,
            log: { [lines] in lines.append($0) }
        )
    }

    private func start(_ source: ReplaySource) {
        source.start { [events] in events.append($0) }
        clock.advance(by: .zero)
    }

    private var seconds: [Int64] {
        events.contents.compactMap {
            guard case .fix(let fix) = $0 else { return nil }
            return fix.timestamp.microseconds / 1_000_000 - 1_772_359_200
        }
    }

    private static func track(_ range: Range<Int>) -> String {
        range.map { Track().epoch($0) }.joined()
    }

    @Test func `a recording is played at its own pace`() throws {
        let source = try source(Self.track(0..<100))
        start(source)
        #expect(seconds == [0])
        clock.advance(by: .milliseconds(999))
        #expect(seconds == [0])
        clock.advance(by: .milliseconds(1))
        #expect(seconds == [0, 1])
        clock.advance(by: .seconds(10))
        #expect(seconds == Array(0...11))
        guard case .fix(let fix) = events.contents[0] else { return }
        #expect(fix.isSimulated)
        source.stop()
        #expect(!clock.isAwaited)
    }

    @Test func `a factor makes it faster or slower`() throws {
        let fast = try source(Self.track(0..<100), speed: 10)
        start(fast)
        clock.advance(by: .seconds(1))
        #expect(seconds == Array(0...10))
        fast.stop()
    }

    @Test func `a gap is cut short, and time that goes back costs a second`() throws {
        let text = Self.track(0..<1) + Self.track(3000..<3001) + Self.track(5..<6)
        let source = try source(text)
        start(source)
        clock.advance(by: .seconds(10))
        #expect(seconds == [0, 3000])
        clock.advance(by: .seconds(1))
        #expect(seconds == [0, 3000, 5])
    }

    @Test func `the end is told once, and nothing is awaited after it`() throws {
        let source = try source(Self.track(0..<2))
        start(source)
        clock.advance(by: .seconds(100))
        #expect(seconds == [0, 1])
        guard case .unavailable(let reason) = events.contents.last else {
            Issue.record("no end")
            return
        }
        #expect(reason == "the end of \(folder.path)/track.nmea was reached")
        #expect(!clock.isAwaited)
        source.stop()
    }

    @Test func `a loop begins anew`() throws {
        let source = try source(Self.track(0..<3), loops: true)
        start(source)
        clock.advance(by: .seconds(7))
        #expect(seconds == [0, 1, 2, 0, 1, 2, 0, 1])
        source.stop()
    }

    @Test(arguments: ["", "nonsense\n", "# only a comment\r\n"])
    func `a file without a sentence is told, also when it is to be looped`(text: String) throws {
        let source = try source(text, loops: true)
        start(source)
        clock.advance(by: .seconds(100))
        #expect(events.contents.count == 1)
        #expect(!clock.isAwaited)
    }

    @Test func `a missing file is tried again with growing pauses`() throws {
        let source = try source(nil)
        start(source)
        let path = "\(folder.path)/track.nmea"
        #expect(
            events.contents
                == [.unavailable(reason: "cannot open \(path): No such file or directory")]
        )
        try folder.write("track.nmea", Self.track(0..<2))
        clock.advance(by: .milliseconds(500))
        #expect(seconds == [0])
        #expect(lines.contents.count == 1)
        source.stop()
    }

    @Test func `a folder is no recording`() throws {
        try folder.makeFolder("track.nmea")
        let source = try source(nil)
        start(source)
        guard case .unavailable(let reason) = events.contents.first else {
            Issue.record("it was opened")
            return
        }
        #expect(reason.contains("which is no regular file"))
        source.stop()
    }

    @Test func `a receiver that stops the source from inside is told nothing more`() throws {
        let source = try source(Self.track(0..<10), speed: 100)
        source.start { [events] event in
            events.append(event)
            source.stop()
        }
        clock.advance(by: .seconds(100))
        #expect(events.contents.count == 1)
        #expect(!clock.isAwaited)
    }
}
