// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import Geo
import Glibc
import Interfaces
import TestKit
import Testing

/// Faults that were found by trying to break the daemon.
@Suite @LoopActor struct DaemonRegressionTests {
    private func staticRig() async throws -> (PrivateBus, DaemonUnderTest, Program) {
        let bus = try await PrivateBus.start()
        let daemon = try await DaemonUnderTest.start(
            on: bus,
            configuration: Rig.everybody,
            arguments: ["--source", "static:48.2,16.3,25"]
        )
        return (bus, daemon, try await Program(try await bus.connect()))
    }

    @Test func `a place that never changes is told to each program, however late it comes`()
        async throws
    {
        let (bus, daemon, first) = try await staticRig()
        try await first.service.call("Start")
        _ = try await first.location()
        // Later than a fix of a receiver would be remembered for a single request.
        try await SystemTimekeeper.shared.sleep(for: .milliseconds(10_500))
        let second = try await Program(try await bus.connect())
        let location = try await second.service.call("GetLocation", "best", UInt32(5_000))
            .results(LocationDictionary.self)
        #expect(location.fix.source == "static")
        try await second.service.call("Start")
        _ = try await second.location()
        try await daemon.stop()
    }

    @Test func `a Start right behind a GetLocation is told the location that is there`()
        async throws
    {
        let (bus, daemon, program) = try await staticRig()
        let one = Task { @LoopActor in
            try await program.service.call("GetLocation", "best", UInt32(5_000))
        }
        let start = Task { @LoopActor in try await program.service.call("Start") }
        _ = await one.result
        _ = try await start.value
        _ = try await program.location()
        try await daemon.stop()
        withExtendedLifetime(bus) {}
    }

    @Test func `a short recording is told again and again`() async throws {
        let rig = try await Rig()
        let folder = try TemporaryFolder()
        let file = try folder.write("short.nmea", Rig.track.sentences(0..<4))
        try await rig.daemon.reload(
            "[source.a]\ntype = nmea\naddress = file:\(file)?speed=50&loop=yes\n" + Rig.everybody
        )
        let program = try await rig.program()
        try await program.service.call("Start")
        var seconds: [Int64] = []
        while seconds.count < 10 {
            let time = try await program.location().fix.timestamp.microseconds
            seconds.append(time / 1_000_000 % 60)
        }
        #expect(seconds.count { $0 == 3 } >= 2, "\(seconds)")
    }

    @Test func `more programs than a bus allows match rules leave nothing behind`() async throws {
        let bus = try await PrivateBus.start(limits: ["max_match_rules_per_connection": 16])
        let feed = try LineServer(.tcp)
        let daemon = try await DaemonUnderTest.start(
            on: bus,
            configuration: Rig.source(feed) + Rig.everybody
        )
        var connections: [Connection] = []
        for _ in 0..<40 {
            let connection = try await bus.connect()
            connections.append(connection)
            try await connection.call(
                "Start",
                on: Waymark.location,
                at: Waymark.path,
                of: Waymark.busName
            )
        }
        _ = try await feed.connections.next("the source's start")
        for connection in connections { connection.close() }
        _ = try await feed.ends.next("the source's release")
        try await daemon.stop()
    }

    @Test func `huge values of the wrong type are refused without being read`() async throws {
        let rig = try await Rig()
        let program = try await rig.program()
        let session = try await program.session()
        let bytes = [UInt8](repeating: 7, count: 8 << 20)
        let before = try residentKilobytes(of: rig.daemon.process.id)
        #expect(
            await errorName {
                try await program.connection.call(
                    "CreateSession",
                    on: Waymark.sessions,
                    at: Waymark.path,
                    of: Waymark.busName,
                    ["x": Variant(bytes)]
                )
            } == WireError.invalidArguments
        )
        await #expect(throws: DBusError.self) { try await session.set("DistanceFilter", to: bytes) }
        let text = String(repeating: "x", count: 8 << 20)
        #expect(
            await errorName { try await program.service.call("GetLocation", text, UInt32(1)) }
                == WireError.invalidArguments
        )
        let status = try await program.service.call("GetAuthorization").results(String.self)
        #expect(status == "always")
        // The messages themselves have to be held, a few at a time; their values not.
        guard !isSanitized else { return }
        let after = try residentKilobytes(of: rig.daemon.process.id)
        #expect(after - before < 100 << 10)
    }

    @Test func `the tool goes on when it is allowed again`() async throws {
        let rig = try await Rig()
        let tool = try ChildProcess(
            try builtProgram("waymark"),
            ["--bus", rig.bus.address, "monitor"]
        )
        try await tool.line(containing: "authorization always")
        let source = Rig.source(rig.feed)
        try await rig.daemon.reload(source + "[program.*]\nauthorization = denied\n")
        try await tool.line(containing: "denied: ")
        try await rig.daemon.reload(source + Rig.everybody)
        try await tool.line(containing: "authorization always")
        let program = try await rig.program()
        try await eventually("the tool's updates") {
            try await program.service.get("InUse") == true
        }
        rig.play(0..<2)
        try await tool.line(containing: "10:00:00")
        try await tool.stop()
    }

    @Test func `a bus that does not move any more cannot keep the daemon from ending`()
        async throws
    {
        let rig = try await Rig()
        rig.bus.process.signal(SIGSTOP)
        #expect(try await rig.daemon.stop() == .status(0))
        rig.bus.process.signal(SIGCONT)
    }

    @Test func `a pipe among the files of the configuration is a mistake, not a wait`()
        async throws
    {
        let folder = try TemporaryFolder()
        let file = try folder.write("w.conf", "")
        try folder.makeFolder("w.conf.d")
        #expect(mkfifo("\(folder.path)/w.conf.d/10.conf", 0o600) == 0)
        let daemon = try ChildProcess(
            try builtProgram("waymarkd"),
            ["--bus", "unix:path=/nonexistent", "--config", file]
        )
        #expect(try await daemon.waitForExit() == .status(78))
        #expect(daemon.output.contains("which is no regular file"))
    }
}
