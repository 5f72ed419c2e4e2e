// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import Geo
import Glibc
import Interfaces
import TestKit
import Testing

/// What happens when something ends: a program, a source, the bus, the daemon.
@Suite @LoopActor struct DaemonLifeTests {
    @Test func `a program that is killed has its session ended and the source released`()
        async throws
    {
        let rig = try await Rig()
        let tool = try ChildProcess(
            try builtProgram("waymark"),
            ["--bus", rig.bus.address, "monitor"]
        )
        _ = try await rig.feed.connections.next("the source's start")
        rig.play(0..<2)
        try await tool.line(containing: "10:00:01")
        tool.signal(SIGKILL)
        _ = try await rig.feed.ends.next("the source's release", within: .seconds(2))
        let program = try await rig.program()
        #expect(try await program.service.get("InUse") == false)
    }

    @Test func `a program that is killed while it waits for a location leaves nothing behind`()
        async throws
    {
        let rig = try await Rig()
        let tool = try ChildProcess(
            try builtProgram("waymark"),
            ["--bus", rig.bus.address, "where"]
        )
        _ = try await rig.feed.connections.next("the source's start")
        tool.signal(SIGKILL)
        _ = try await rig.feed.ends.next("the source's release", within: .seconds(2))
    }

    @Test func `the source stays while one of two programs wants it`() async throws {
        let rig = try await Rig()
        let (one, other) = (try await rig.program(), try await rig.program())
        try await one.service.call("Start")
        try await other.service.call("Start")
        _ = try await rig.feed.connections.next("the source's start")
        one.connection.close()
        rig.play(0..<3)
        _ = try await other.location()
        #expect(rig.feed.acceptedCount == 1 && rig.feed.openCount == 1)
        try await other.service.call("Stop")
        _ = try await rig.feed.ends.next("the source's release")
    }

    @Test func `a receiver that hangs up is reached again, and programs are told once`()
        async throws
    {
        let rig = try await Rig()
        let program = try await rig.program()
        try await program.service.call("Start")
        _ = try await rig.feed.connections.next("the source's start")
        rig.play(0..<2)
        _ = try await program.location()
        rig.feed.closeAll()
        _ = try await program.news.next("the outage") { $0 == .failed("location-unknown") }
        _ = try await rig.feed.connections.next("a new connection", within: .seconds(2))
        rig.play(2..<4)
        #expect(try await program.location().fix.timestamp.microseconds == 1_772_359_202_000_000)
        #expect(rig.feed.acceptedCount == 2)
        try await program.settle()
        #expect(!program.news.contents.contains(.failed("location-unknown")))
    }

    @Test func `a receiver that hangs up at once does not make the daemon spin`() async throws {
        let rig = try await Rig()
        rig.feed.hangsUp = true
        let program = try await rig.program()
        // Counted from before the first attempt, so that a slow machine only makes it longer: half a
        // second, then a second, so the third attempt is at 1.5 s at the earliest.
        let start = ContinuousClock.Instant.now
        try await program.service.call("Start")
        try await eventually("three attempts") { rig.feed.acceptedCount >= 3 }
        #expect(start.duration(to: .now) >= .milliseconds(1400))
        let before = try ProcessStatus(of: rig.daemon.process.id)
        try await eventually("a fourth attempt") { rig.feed.acceptedCount >= 4 }
        let after = try ProcessStatus(of: rig.daemon.process.id)
        #expect(after.wakeUps - before.wakeUps < 50)
    }

    @Test func `SIGTERM during traffic ends the daemon cleanly`() async throws {
        let rig = try await Rig()
        let program = try await rig.program()
        try await program.service.call("Start")
        _ = try await rig.feed.connections.next("the source's start")
        let traffic = Task { @LoopActor in
            for second in 0..<100_000 where rig.feed.openCount > 0 {
                rig.feed.send(Rig.track.sentences(second))
                _ = try await program.service.get("InUse", as: Bool.self)
            }
        }
        _ = try await program.location()
        #expect(try await rig.daemon.stop() == .status(0), "\(rig.daemon.log)")
        _ = try await rig.feed.ends.next("the source's release")
        _ = await traffic.result
    }

    @Test func `without its bus the daemon ends and says so`() async throws {
        let rig = try await Rig()
        rig.bus.process.signal(SIGKILL)
        #expect(try await rig.daemon.process.waitForExit() == .status(1))
        #expect(rig.daemon.log.contains("the bus has closed the connection"))
    }

    @Test func `a second daemon on a bus gives way`() async throws {
        let rig = try await Rig()
        let second = try ChildProcess(
            try builtProgram("waymarkd"),
            ["--bus", rig.bus.address, "--config", rig.daemon.configurationPath]
        )
        #expect(try await second.waitForExit() == .status(1))
        #expect(second.output.contains("another location service is running"))
        #expect(rig.daemon.process.exit == nil)
    }

    @Test func `at rest there is one thread and no wake-up`() async throws {
        let rig = try await Rig()
        let program = try await rig.program()
        try await program.service.call("Start")
        _ = try await rig.feed.connections.next("the source's start")
        rig.play(0..<2)
        _ = try await program.location()
        program.connection.close()
        _ = try await rig.feed.ends.next("the source's release")
        // The last steps of the goodbye, then nothing: the count stands still for ten seconds.
        var last = try ProcessStatus(of: rig.daemon.process.id)
        try await eventually("a daemon at rest") {
            try await SystemTimekeeper.shared.sleep(for: .milliseconds(200))
            let now = try ProcessStatus(of: rig.daemon.process.id)
            defer { last = now }
            return now.wakeUps == last.wakeUps
        }
        try await SystemTimekeeper.shared.sleep(for: .seconds(10))
        let after = try ProcessStatus(of: rig.daemon.process.id)
        #expect(after.wakeUps == last.wakeUps)
        #expect(after.threads == 1)
    }

    @Test func `the log never holds a coordinate`() async throws {
        let rig = try await Rig()
        let program = try await rig.program()
        try await program.service.call("Start")
        _ = try await rig.feed.connections.next("the source's start")
        rig.play(0..<3)
        rig.feed.send("$GPGGA,100003.00,4812.49200,N,01622.43100,E,1,09*00\r\n")
        _ = try await program.location()
        rig.feed.closeAll()
        _ = try await rig.feed.connections.next("a new connection")
        rig.play(4..<6)
        _ = try await program.location()
        try await rig.daemon.stop()
        #expect(rig.daemon.log.contains("has closed the connection; trying again"))
        #expect(rig.daemon.log.contains("is back"))
        // A port may have any digits.
        let log = rig.daemon.log.replacing(":\(rig.feed.port)", with: "")
        for digits in ["48.2", "4812", "16.37", "01622", "1622."] {
            #expect(!log.contains(digits), "\(log)")
        }
    }
}

/// What the kernel counts about a process.
struct ProcessStatus {
    /// How often its threads have begun to wait.
    var wakeUps = 0
    var threads = 0

    init(of process: Int32) throws {
        for line in try readFile("/proc/\(process)/status").split(separator: "\n") {
            let words = line.split { $0 == ":" || $0 == "\t" || $0 == " " }
            guard words.count > 1, let number = Int(words[1]) else { continue }
            switch words[0] {
            case "voluntary_ctxt_switches": wakeUps = number
            case "Threads": threads = number
            default: break
            }
        }
    }
}
