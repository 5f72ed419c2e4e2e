// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import Geo
import Glibc
import Interfaces
import TestKit
import Testing

extension DaemonUnderTest {
    /// How many sockets the daemon has open.
    fileprivate func socketCount() throws -> Int {
        let folder = "/proc/\(process.id)/fd"
        guard let list = opendir(folder) else { throw SystemError(operation: "list \(folder)") }
        defer { closedir(list) }
        var count = 0
        while let entry = readdir(list) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            var target = [CChar](repeating: 0, count: 64)
            let length = readlink("\(folder)/\(name)", &target, target.count)
            let bytes = target.prefix(max(length, 0)).map { UInt8(bitPattern: $0) }
            if String(decoding: bytes, as: UTF8.self).hasPrefix("socket:") { count += 1 }
        }
        return count
    }
}

/// A real gpsd between the receiver and the daemon.
@Suite(.enabled(if: isInstalled("gpsd"), "skipped: gpsd is not installed"))
@LoopActor struct DaemonGpsdTests {
    /// A gpsd that reads a receiver which the test plays, and the daemon behind it.
    @LoopActor private final class Gpsd {
        let feed: LineServer
        let port: UInt16
        private let folder: TemporaryFolder
        private(set) var process: ChildProcess
        private var player: Timer?
        private var second = 0

        init() throws {
            feed = try LineServer(.tcp)
            port = try freePort()
            folder = try TemporaryFolder()
            process = try Self.start(port, feed.port, folder)
            play()
        }

        func restart() throws {
            process = try Self.start(port, feed.port, folder)
        }

        /// Ten epochs a second, to whoever listens.
        private func play() {
            feed.send(Rig.track.sentences(second))
            second += 1
            player = SystemTimekeeper.shared.schedule(after: .milliseconds(100)) { [weak self] in
                self?.play()
            }
        }

        isolated deinit {
            player?.cancel()
        }

        private static func start(
            _ port: UInt16,
            _ feed: UInt16,
            _ folder: TemporaryFolder
        ) throws -> ChildProcess {
            try ChildProcess(
                "gpsd",
                ["-N", "-b", "-S", "\(port)", "-F", "\(folder.path)/control"]
                    + ["tcp://127.0.0.1:\(feed)"],
                environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"]
            )
        }
    }

    private func rig(_ port: UInt16) async throws -> (DaemonUnderTest, Program, PrivateBus) {
        let bus = try await PrivateBus.start()
        let daemon = try await DaemonUnderTest.start(
            on: bus,
            configuration: Rig.everybody,
            arguments: ["--source", "gpsd:127.0.0.1:\(port)"]
        )
        return (daemon, try await Program(try await bus.connect()), bus)
    }

    @Test func `its fixes are told, and it is left alone when nobody listens`()
        async throws
    {
        let gpsd = try Gpsd()
        let (daemon, program, bus) = try await rig(gpsd.port)
        #expect(gpsd.feed.acceptedCount == 0)
        let atRest = try daemon.socketCount()
        try await program.service.call("Start")
        let location = try await program.location()
        #expect(location.fix.source == "gpsd")
        #expect(abs(location.fix.coordinate.longitude - 16.3738) < 1e-6)
        #expect(location.fix.horizontalAccuracy > 0)
        #expect(location.fix.timestamp.microseconds >= 1_772_359_200_000_000)
        #expect(try daemon.socketCount() == atRest + 1)
        try await program.service.call("Stop")
        try await program.settle()
        #expect(try daemon.socketCount() == atRest)
        try await daemon.stop()
        try await gpsd.process.stop()
        withExtendedLifetime(bus) {}
    }

    @Test func `it is told when somebody listens and when nobody does any more`() async throws {
        let server = try LineServer(.tcp)
        let (daemon, program, bus) = try await rig(server.port)
        try await program.service.call("Start")
        #expect(try await server.lines.next() == #"?WATCH={"enable":true,"json":true};"#)
        try await program.service.call("Stop")
        #expect(try await server.lines.next() == #"?WATCH={"enable":false};"#)
        _ = try await server.ends.next("the end of the connection")
        // A program that is killed is as good as one that stops; SIGTERM to the daemon, too.
        try await program.service.call("Start")
        #expect(try await server.lines.next() == #"?WATCH={"enable":true,"json":true};"#)
        program.connection.close()
        #expect(try await server.lines.next() == #"?WATCH={"enable":false};"#)
        let other = try await Program(try await bus.connect())
        try await other.service.call("Start")
        #expect(try await server.lines.next() == #"?WATCH={"enable":true,"json":true};"#)
        try await daemon.stop()
        #expect(try await server.lines.next() == #"?WATCH={"enable":false};"#)
    }

    @Test func `when it is killed and comes back, updates go on`() async throws {
        let gpsd = try Gpsd()
        let (daemon, program, bus) = try await rig(gpsd.port)
        try await program.service.call("Start")
        _ = try await program.location()
        gpsd.process.signalGroup(SIGKILL)
        try await gpsd.process.waitForExit()
        _ = try await program.news.next("the outage") { $0 == .failed("location-unknown") }
        try gpsd.restart()
        _ = try await program.location("a location after gpsd is back")
        try await program.settle()
        #expect(!program.news.contents.contains(.failed("location-unknown")))
        try await daemon.stop()
        let lines = daemon.log.split(separator: "\n").filter { $0.contains("source gpsd:") }
        #expect(lines.count == 2, "\(daemon.log)")
        try await gpsd.process.stop()
        withExtendedLifetime(bus) {}
    }

    @Test func `a daemon that was there first finds it when it comes`() async throws {
        let port = try freePort()
        let (daemon, program, bus) = try await rig(port)
        try await program.service.call("Start")
        _ = try await program.news.next("the outage") { $0 == .failed("location-unknown") }
        let feed = try LineServer(.tcp)
        feed.greeting = Rig.track.sentences(0..<5)
        let folder = try TemporaryFolder()
        let process = try ChildProcess(
            "gpsd",
            ["-N", "-b", "-S", "\(port)", "-F", "\(folder.path)/control"]
                + ["tcp://127.0.0.1:\(feed.port)"],
            environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"]
        )
        _ = try await program.location("a location from the late gpsd")
        try await daemon.stop()
        try await process.stop()
        withExtendedLifetime(bus) {}
    }

    @Test(.enabled(if: isInstalled("gpsfake"), "skipped: gpsfake is not installed"))
    func `gpsfake feeds it like a receiver`() async throws {
        let port = try freePort()
        let folder = try TemporaryFolder()
        let track = try folder.write(
            "walk.nmea",
            Rig.track.sentences(0..<600)
        )
        let gpsfake = try ChildProcess(
            "/usr/bin/python3",
            ["/usr/bin/gpsfake", "-q", "-t", "-c", "0.02", "-P", "\(port)", track],
            environment: ["TMPDIR": folder.path, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"]
        )
        let (daemon, program, bus) = try await rig(port)
        try await program.service.call("Start")
        var latitudes: Set<Double> = []
        while latitudes.count < 5 {
            latitudes.insert(try await program.location().fix.coordinate.latitude)
        }
        try await daemon.stop()
        // It does not end by itself, and its gpsd would outlive it: the group goes with it.
        gpsfake.signalGroup(SIGKILL)
        try await gpsfake.waitForExit()
        withExtendedLifetime(bus) {}
    }
}
