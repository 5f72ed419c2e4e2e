// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Geo
import Positioning
import TestKit
import Testing

/// Recordings, played on a clock that the test moves.
@Suite @LoopActor struct ReplaySourceTests {
    private let folder: TemporaryFolder
    private let track = NMEATrack()

    init() throws {
        folder = try TemporaryFolder()
    }

    private func rig(_ content: String?, speed: Double = 1, loops: Bool = false) throws -> SourceRig
    {
        if let content { try folder.write("log.nmea", content) }
        return SourceRig(.replay(path: "\(folder.path)/log.nmea", speed: speed, loops: loops))
    }

    /// Moves the clock and tells which epochs' fixes that brought.
    private func epochs(_ rig: SourceRig, after duration: Duration) throws -> [Int] {
        let known = rig.events.contents.count
        rig.clock.advance(by: duration)
        return rig.events.contents.dropFirst(known).compactMap { event in
            guard case .fix(let fix) = event else { return nil }
            return Int(fix.timestamp.since(track.start) / .seconds(1))
        }
    }

    @Test func `a recording is played at its own pace`() throws {
        let rig = try rig(track.sentences(0..<4))
        rig.start()
        #expect(rig.events.contents.isEmpty)
        #expect(try epochs(rig, after: .zero) == [0])
        #expect(try epochs(rig, after: .milliseconds(999)) == [])
        #expect(try epochs(rig, after: .milliseconds(1)) == [1])
        #expect(try epochs(rig, after: .seconds(1)) == [2])
        #expect(try epochs(rig, after: .seconds(1)) == [3])
        for event in rig.events.contents {
            guard case .fix(let fix) = event else { continue }
            #expect(fix.isSimulated)
        }
    }

    @Test(arguments: [(10.0, 100), (2, 500), (0.5, 2000)])
    func `a factor makes it faster or slower`(speed: Double, milliseconds: Int) throws {
        let rig = try rig(track.sentences(0..<4), speed: speed)
        rig.start()
        #expect(try epochs(rig, after: .zero) == [0])
        for epoch in 1..<4 {
            #expect(try epochs(rig, after: .milliseconds(milliseconds - 1)) == [])
            #expect(try epochs(rig, after: .milliseconds(1)) == [epoch])
        }
    }

    @Test func `pauses do not add up`() throws {
        let rig = try rig(track.sentences(0..<101), speed: 3)
        rig.start()
        #expect(try epochs(rig, after: .milliseconds(33_334)) == Array(0...100))
    }

    @Test func `a gap is cut short`() throws {
        let rig = try rig(track.sentences(0) + track.sentences(3600))
        rig.start()
        #expect(try epochs(rig, after: .zero) == [0])
        #expect(try epochs(rig, after: .milliseconds(9999)) == [])
        #expect(try epochs(rig, after: .milliseconds(1)) == [3600])
    }

    @Test func `midnight is no gap`() throws {
        let evening = NMEATrack(
            start: try #require(
                Timestamp(year: 2025, month: 12, day: 31, microsecondOfDay: 86_399_000_000)
            )
        )
        let rig = try rig(evening.sentences(0..<3))
        rig.start()
        rig.clock.advance(by: .zero)
        rig.clock.advance(by: .seconds(1))
        rig.clock.advance(by: .seconds(1))
        let times = rig.events.contents.compactMap { event -> Timestamp? in
            guard case .fix(let fix) = event else { return nil }
            return fix.timestamp
        }
        #expect(times == (0..<3).map { evening.time(of: $0) })
    }

    @Test func `the end is told once`() throws {
        let rig = try rig(track.sentences(0..<2))
        rig.start()
        rig.clock.advance(by: .seconds(1))
        let reason = "the end of \(folder.path)/log.nmea was reached"
        #expect(rig.events.contents.last == .unavailable(reason: reason))
        #expect(rig.events.contents.count == 3)
        #expect(!rig.clock.isAwaited)
        rig.clock.advance(by: .seconds(1000))
        #expect(rig.events.contents.count == 3)
        #expect(rig.log == ["source receiver: \(reason)"])
    }

    @Test func `a recording that loops begins again after a second`() throws {
        let rig = try rig(track.sentences(0..<2), loops: true)
        rig.start()
        #expect(try epochs(rig, after: .zero) == [0])
        for _ in 0..<5 {
            #expect(try epochs(rig, after: .seconds(1)) == [1])
            #expect(try epochs(rig, after: .seconds(1)) == [0])
        }
        #expect(rig.log.isEmpty)
    }

    @Test func `a loop of one epoch is played once a second`() throws {
        let rig = try rig(track.sentences(0), loops: true)
        rig.start()
        rig.clock.advance(by: .seconds(10))
        #expect((10...11).contains(rig.events.contents.count))
        #expect(rig.clock.isAwaited)
    }

    @Test func `a file without line end at its end is played whole`() throws {
        let rig = try rig(String(track.sentences(0..<2).dropLast()))
        rig.start()
        #expect(try epochs(rig, after: .seconds(1)) == [0, 1])
    }

    @Test func `a file that is missing is awaited`() throws {
        let rig = try rig(nil)
        rig.start()
        rig.clock.advance(by: .zero)
        let reason = "cannot open \(folder.path)/log.nmea: No such file or directory"
        #expect(rig.events.contents == [.unavailable(reason: reason)])
        for pause in [0.5, 1, 2, 4, 8, 10, 10] {
            let known = rig.events.contents.count
            rig.clock.advance(by: .seconds(pause) - .milliseconds(1))
            #expect(rig.events.contents.count == known)
            rig.clock.advance(by: .milliseconds(1))
            #expect(rig.events.contents.count == known + 1)
        }
        #expect(rig.log == ["source receiver: \(reason); trying again"])
        try folder.write("log.nmea", track.sentences(0..<2))
        #expect(try epochs(rig, after: .seconds(10)) == [0])
        #expect(rig.log.last == "source receiver: \(folder.path)/log.nmea is back")
    }

    @Test func `a directory is no recording`() throws {
        let rig = SourceRig(.replay(path: folder.path, speed: 1, loops: false))
        rig.start()
        rig.clock.advance(by: .zero)
        let reason = "cannot play \(folder.path), which is no regular file: Invalid argument"
        #expect(rig.events.contents == [.unavailable(reason: reason)])
        #expect(rig.clock.isAwaited)
    }

    @Test(arguments: ["", "\n\n", "# a comment\n", "$GPGSV,1,1,00*79\r\n"], [false, true])
    func `a file without positions is told once, also if it is to loop`(
        content: String,
        loops: Bool
    ) throws {
        let rig = try rig(content, loops: loops)
        rig.start()
        rig.clock.advance(by: .seconds(100))
        let path = "\(folder.path)/log.nmea"
        let reason = "\(path) holds no sentence that tells a position or time"
        #expect(rig.events.contents == [.unavailable(reason: reason)])
        #expect(!rig.clock.isAwaited)
    }

    @Test func `a huge file of a single moment leaves the loop to others`() async throws {
        let line = NMEATrack.sentence("GPGGA,,4806.00000,N,01130.00000,E,1,08,0.9,,M,,M,,")
        let rig = try rig(String(repeating: line, count: 20_000))
        rig.start()
        var turns = 0
        while rig.clock.isAwaited, turns < 1000 {
            turns += 1
            rig.clock.runNext()
        }
        #expect(turns >= 20)
        #expect(!rig.clock.isAwaited)
    }

    // MARK: Stopping

    @Test func `a stop is the end, and a start begins anew`() throws {
        let rig = try rig(track.sentences(0..<4))
        rig.start()
        #expect(try epochs(rig, after: .seconds(1)) == [0, 1])
        rig.source.stop()
        #expect(!rig.clock.isAwaited)
        #expect(try epochs(rig, after: .seconds(10)) == [])
        rig.start()
        #expect(try epochs(rig, after: .seconds(1)) == [0, 1])
    }

    @Test func `a stop from within a fix is the last that is heard`() throws {
        let rig = try rig(track.sentences(0..<4))
        rig.onEvent = { [source = rig.source] _ in source.stop() }
        rig.start()
        #expect(try epochs(rig, after: .seconds(10)) == [0])
        #expect(!rig.clock.isAwaited)
    }

    @Test func `a stop from within the last fix is before the end`() throws {
        let rig = try rig(track.sentences(0))
        rig.onEvent = { [source = rig.source] _ in source.stop() }
        rig.start()
        #expect(try epochs(rig, after: .seconds(10)) == [0])
        #expect(rig.events.contents.count == 1)
        #expect(rig.log.isEmpty)
    }

    @Test func `a new start from within a fix plays from the beginning, once`() throws {
        let rig = try rig(track.sentences(0..<3))
        var restarts = 0
        rig.onEvent = { [weak rig] _ in
            restarts += 1
            guard restarts == 2 else { return }
            rig?.source.stop()
            rig?.start()
        }
        rig.start()
        #expect(try epochs(rig, after: .zero) == [0])
        #expect(try epochs(rig, after: .seconds(1)) == [1, 0])
        #expect(try epochs(rig, after: .seconds(1)) == [1])
        #expect(try epochs(rig, after: .seconds(1)) == [2])
        #expect(rig.events.contents.count == 6)
    }

    @Test func `a stop while the file is missing ends the attempts`() throws {
        let rig = try rig(nil)
        rig.onEvent = { [source = rig.source] _ in source.stop() }
        rig.start()
        rig.clock.advance(by: .seconds(100))
        #expect(rig.events.contents.count == 1)
        #expect(!rig.clock.isAwaited)
    }
}
