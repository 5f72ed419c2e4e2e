// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import Geo
import Glibc
import Interfaces
import TestKit
import Testing

/// Who is told, and who is not.
@Suite @LoopActor struct DaemonConsentTests {
    /// The configuration's section of the tool `waymark`.
    private func toolSection(_ authorization: String) throws -> String {
        "[program.\(try builtProgram("waymark"))]\nauthorization = \(authorization)\n"
    }

    @Test(.enabled(if: isInstalled("dbus-monitor"), "skipped: dbus-monitor is not installed"))
    func `one program is told, another one is not, and nobody can listen in`() async throws {
        let rig = try await Rig(try toolSection("always"))
        let monitor = try ChildProcess(
            "dbus-monitor",
            ["--address", rig.bus.address],
            environment: ["LC_ALL": "C"]
        )
        try await monitor.line(containing: "NameAcquired")
        let tool = try ChildProcess(
            try builtProgram("waymark"),
            ["--bus", rig.bus.address, "monitor"]
        )
        try await tool.line(containing: "authorization always")
        // This process has no decision: it may start, and is told nothing.
        let other = try await rig.program()
        try await other.service.call("Start")
        #expect(try await other.news.next() == .authorization("not-determined", "full"))
        let session = try await other.session()
        try await session.call("Start")

        rig.play(0..<5)
        try await tool.line(containing: "10:00:03")
        #expect(
            await errorName { try await other.service.call("GetLocation", "best", UInt32(5_000)) }
                == WireError.busy
        )
        #expect(try await session.get("Location", as: [String: Value].self) == [:])
        try await other.settle()
        #expect(other.news.contents == [])

        // What the bus carried: each location went to the tool, by name, and to nobody else.
        let end = try await rig.bus.connect()
        try await end.call("Ping", on: "org.freedesktop.DBus.Peer", at: "/", of: end.uniqueName)
        try await monitor.line(containing: "member=Ping")
        let locations = monitor.output.split(separator: "\n").filter {
            $0.contains("member=LocationUpdated")
        }
        #expect(locations.count >= 4)
        let stranger = "destination=\(other.connection.uniqueName) "
        #expect(locations.allSatisfy { $0.contains("destination=:") && !$0.contains(stranger) })
        // Neither does anything else that holds a coordinate go anywhere.
        let longitude = "double 16.3738"
        let carried = monitor.output.countLines(with: longitude)
        #expect(carried == locations.count)
        try await tool.stop()
        try await monitor.stop()
    }

    @Test func `a program without a decision has no source running for it`() async throws {
        let rig = try await Rig("")
        let program = try await rig.program()
        try await program.service.call("Start")
        #expect(
            await errorName { try await program.service.call("GetLocation", "best", UInt32(1)) }
                == WireError.busy
        )
        try await program.service.call("Stop")
        #expect(
            await errorName { try await program.service.call("GetLocation", "best", UInt32(1)) }
                == WireError.notDetermined
        )
        #expect(try await program.service.get("InUse") == false)
        #expect(rig.feed.acceptedCount == 0)
    }

    @Test(arguments: [("denied", WireError.denied), ("restricted", WireError.restricted)])
    func `a program that was ruled out is told so at once`(row: (String, ErrorName)) async throws {
        let rig = try await Rig("[program.*]\nauthorization = \(row.0)\n")
        let program = try await rig.program()
        #expect(await errorName { try await program.service.call("Start") } == row.1)
        #expect(try await program.news.next() == .authorization(row.0, "full"))
        #expect(
            await errorName { try await program.service.call("GetLocation", "best", UInt32(1)) }
                == row.1
        )
        #expect(
            try await program.service.call("GetAuthorization").results(String.self) == row.0
        )
        #expect(rig.feed.acceptedCount == 0)
    }

    @Test func `a decision that changes holds at once, and the program is told first`()
        async throws
    {
        let rig = try await Rig("")
        let source = Rig.source(rig.feed)
        let program = try await rig.program()
        try await program.service.call("Start")
        #expect(try await program.news.next() == .authorization("not-determined", "full"))

        // Allowed: fixes flow without another Start.
        try await rig.daemon.reload(source + Rig.everybody)
        #expect(try await program.news.next() == .authorization("always", "full"))
        _ = try await rig.feed.connections.next("the source's start")
        rig.play(0..<2)
        _ = try await program.location()

        // Taken back: told once, and nothing more comes; the source is released.
        try await rig.daemon.reload(source + "[program.*]\nauthorization = denied\n")
        _ = try await program.news.next("the news") { $0 == .authorization("denied", "full") }
        #expect(try await program.news.next() == .failed("denied"))
        _ = try await rig.feed.ends.next("the source's release")
        try await program.settle()
        #expect(program.news.contents == [])

        // Allowed again: it had been stopped, and starts anew.
        try await rig.daemon.reload(source + Rig.everybody)
        #expect(try await program.news.next() == .authorization("always", "full"))
        try await program.service.call("Start")
        _ = try await rig.feed.connections.next("the source's start")
    }

    @Test func `with reduced accuracy nothing exact leaves`() async throws {
        let rig = try await Rig("[program.*]\nauthorization = always\naccuracy = reduced\n")
        let program = try await rig.program()
        let session = try await program.session()
        try await session.call("Start")
        #expect(try await program.news.next() == .authorization("always", "reduced"))
        _ = try await rig.feed.connections.next("the source's start")
        rig.play(0..<30)
        let location = try await program.location()
        let coordinate = location.fix.coordinate
        #expect(abs(coordinate.latitude - 48.22) < 1e-9)
        #expect(abs(coordinate.longitude - 16.35) < 1e-9)
        #expect(location.fix.horizontalAccuracy >= 3000)
        #expect(location.fix.speed == nil && location.fix.course == nil)
        #expect(location.fix.altitude == nil && location.fix.ellipsoidalAltitude == nil)
        // One for a quarter of an hour, and what is kept is the reduced one, too.
        let kept = try await session.get("Location", as: [String: Value].self)
        #expect(kept["latitude"] == .double(coordinate.latitude))
        try await session.call("Stop")
        let again = try await session.call("GetLocation", "best", UInt32(5_000))
            .results(LocationDictionary.self)
        #expect(again.fix.coordinate == coordinate)
        #expect(program.news.contents == [])
    }

    @Test func `going from full to reduced takes the exact location back`() async throws {
        let rig = try await Rig()
        let program = try await rig.program()
        let session = try await program.session()
        try await session.call("Start")
        _ = try await rig.feed.connections.next("the source's start")
        rig.play(0..<2)
        let exact = try await program.location()
        let reduced = "[program.*]\nauthorization = always\naccuracy = reduced\n"
        try await rig.daemon.reload(Rig.source(rig.feed) + reduced)
        _ = try await program.news.next("the news") { $0 == .authorization("always", "reduced") }
        let kept = try await session.get("Location", as: [String: Value].self)
        #expect(kept["latitude"] != .double(exact.fix.coordinate.latitude))
        #expect(kept["longitude"] != .double(exact.fix.coordinate.longitude))
        #expect(kept["altitude"] == nil)
    }

    @Test func `users limit a decision to some`() async throws {
        let other = getuid() + 1
        let rig = try await Rig("[program.*]\nauthorization = always\nusers = \(other)\n")
        let program = try await rig.program()
        let status = try await program.service.call("GetAuthorization").results(String.self)
        #expect(status == "not-determined")
    }
}

extension String {
    /// How many lines hold a text.
    fileprivate func countLines(with text: String) -> Int {
        split(separator: "\n").count { $0.contains(text) }
    }
}
