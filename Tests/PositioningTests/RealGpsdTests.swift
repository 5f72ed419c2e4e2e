// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Geo
import Glibc
import Positioning
import TestKit
import Testing

/// A real gpsd in front of a receiver that the test plays.
@Suite(
    .enabled(if: isInstalled("gpsd"), "skipped: gpsd is not installed"),
    .timeLimit(.minutes(1))
)
@LoopActor struct RealGpsdTests {
    private static let programPath = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"]

    /// A receiver at which gpsd reads ten epochs a second.
    @LoopActor private final class Receiver {
        let server: LineServer
        let track = NMEATrack(hasGSA: true)
        private var timer: Timer?
        private(set) var epoch = 0

        init() throws {
            server = try LineServer(.tcp)
            play()
        }

        isolated deinit {
            timer?.cancel()
        }

        private func play() {
            server.send(track.sentences(epoch))
            epoch += 1
            timer = SystemTimekeeper.shared.schedule(after: .milliseconds(100)) { [weak self] in
                self?.play()
            }
        }
    }

    private let folder: TemporaryFolder
    private let port: UInt16
    private let rig: SourceRig

    init() throws {
        folder = try TemporaryFolder()
        port = try freePort()
        rig = SourceRig(.gpsd(.tcp(host: "127.0.0.1", port: port)))
        rig.clock.microsecondsSinceEpoch = 1_600_000_000_000_000
    }

    private func gpsd(_ receiver: Receiver) throws -> ChildProcess {
        try ChildProcess(
            "gpsd",
            ["-N", "-n", "-b", "-S", "\(port)", "-F", "\(folder.path)/control"]
                + ["tcp://127.0.0.1:\(receiver.server.port)"],
            environment: Self.programPath
        )
    }

    /// Waits for the next fix while the source's clock runs as fast as it may.
    ///
    /// The first ones after a start have no time by the receiver: gpsd does not know the date yet.
    private func fix(
        since time: Timestamp = Timestamp(microseconds: 1_700_000_000_000_000)
    ) async throws -> Fix {
        var found: Fix?
        try await eventually("a fix; the log: \(rig.log)") {
            while let event = rig.events.contents.first {
                _ = try await rig.events.next()
                if case .fix(let fix) = event, fix.timestamp > time {
                    found = fix
                    return true
                }
            }
            rig.clock.advance(by: .seconds(1))
            return false
        }
        return try #require(found)
    }

    /// The connections that gpsd still holds: by its own end of them.
    private func connectionCount() throws -> Int {
        try socketStates(fromPort: port).count { $0 == "01" || $0 == "08" }
    }

    @Test func `its fixes are those of the receiver`() async throws {
        let receiver = try Receiver()
        let process = try gpsd(receiver)
        rig.start()
        let first = try await fix()
        #expect(first.source == "gpsd")
        #expect(!first.isSimulated)
        #expect(abs(first.coordinate.longitude - receiver.track.longitude) < 1e-6)
        #expect(first.horizontalAccuracy > 0.01)
        let epoch = Int(first.timestamp.since(receiver.track.start) / .seconds(1))
        #expect((0...receiver.epoch).contains(epoch))
        #expect(abs(first.coordinate.latitude - receiver.track.latitude(of: epoch)) < 1e-6)
        var altitude: Double?
        try await eventually("a fix with altitude") {
            altitude = try await fix().altitude
            return altitude != nil
        }
        #expect(altitude == 520)
        #expect(try connectionCount() == 1)
        rig.source.stop()
        try await eventually("gpsd's end of the connection to close") {
            try connectionCount() == 0
        }
        try await process.stop()
    }

    @Test func `after it was killed and is back, fixes resume`() async throws {
        let receiver = try Receiver()
        let killed = try gpsd(receiver)
        // Started before it listens, the source would tell of that loss first.
        try await eventually("gpsd to listen") {
            try socketStates(fromPort: port).contains("0A")
        }
        rig.start()
        let last = try await fix()
        killed.signalGroup(SIGKILL)
        try await killed.waitForExit()
        _ = try await rig.events.next("the loss") { event in
            if case .unavailable = event { true } else { false }
        }
        let known = rig.log.count
        let back = try gpsd(receiver)
        _ = try await fix(since: last.timestamp)
        #expect(rig.log.dropFirst(known) == ["source receiver: 127.0.0.1:\(port) is back"])
        rig.source.stop()
        try await back.stop()
    }

    @Test(.enabled(if: isInstalled("gpsfake"), "skipped: gpsfake is not installed"))
    func `gpsfake's fixes are told`() async throws {
        let track = NMEATrack(hasGSA: true)
        let log = try folder.write("walk.nmea", track.sentences(0..<30))
        let process = try ChildProcess(
            "gpsfake",
            ["-q", "-c", "0.02", "-P", "\(port)", log],
            environment: Self.programPath.merging(["TMPDIR": folder.path]) { $1 }
        )
        rig.start()
        let found = try await fix()
        #expect(abs(found.coordinate.longitude - track.longitude) < 1e-6)
        rig.source.stop()
        try await eventually("gpsd's end of the connection to close") {
            try connectionCount() == 0
        }
        // It does not end kindly, and would leave its gpsd behind.
        process.signalGroup(SIGKILL)
        try await process.waitForExit()
    }
}
