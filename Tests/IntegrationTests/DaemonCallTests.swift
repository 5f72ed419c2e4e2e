// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import Geo
import Interfaces
import TestKit
import Testing

@Suite @LoopActor struct DaemonCallTests {
    @Test func `a program is told its authorization first, then locations as they come`()
        async throws
    {
        let rig = try await Rig()
        let program = try await rig.program()
        try await program.service.call("Start")
        _ = try await rig.feed.connections.next("the source's start")
        rig.play(0..<2)
        #expect(try await program.news.next() == .authorization("always", "full"))
        let first = try await program.location()
        #expect(abs(first.fix.coordinate.latitude - Rig.track.latitude(of: 0)) < 1e-6)
        #expect(abs(first.fix.coordinate.longitude - 16.3738) < 1e-6)
        #expect(first.fix.horizontalAccuracy == 4.5)
        #expect(first.fix.altitude == 520)
        #expect(first.fix.ellipsoidalAltitude == 566.9)
        #expect(first.fix.course == 0)
        #expect(first.fix.source == "nmea")
        #expect(first.fix.timestamp.microseconds == 1_772_359_200_000_000)
        #expect(!first.fix.isSimulated && !first.isCached)
        rig.play(2..<3)
        let second = try await program.location()
        #expect(second.fix.timestamp.since(first.fix.timestamp) == .seconds(1))
    }

    @Test func `calls that are sent without waiting take effect in their order`() async throws {
        let rig = try await Rig()
        let program = try await rig.program()
        let session = try await program.session()
        var calls: [Task<Reply, any Error>] = []
        func send(_ member: MemberName) {
            calls.append(Task { @LoopActor in try await session.call(member) })
        }
        // Seven times on, eight times off: the last word counts.
        for _ in 0..<8 {
            send("Stop")
            send("Start")
        }
        send("Stop")
        for call in calls { _ = try await call.value }
        #expect(try await session.get("Active") == false)
        #expect(try await program.service.get("InUse") == false)

        let set = Task { @LoopActor in try await session.set("DistanceFilter", to: 250.0) }
        let word = Task { @LoopActor in try await session.set("DesiredAccuracy", to: "reduced") }
        let start = Task { @LoopActor in try await session.call("Start") }
        _ = (try await set.value, try await word.value, try await start.value)
        let properties = try await session.getAll()
        #expect(properties["DistanceFilter"] == 250.0)
        #expect(properties["DesiredAccuracy"] == "reduced")
        #expect(properties["Active"] == true)
    }

    @Test func `a thousand calls in one go are all answered`() async throws {
        let rig = try await Rig()
        let program = try await rig.program()
        let calls = (0..<1000).map { _ in
            Task { @LoopActor in
                try await program.service.call("GetAuthorization").results(String.self)
            }
        }
        for call in calls { #expect(try await call.value == "always") }
    }

    @Test func `wrong calls get the standard errors and the daemon lives on`() async throws {
        let rig = try await Rig()
        let program = try await rig.program()
        let connection = program.connection
        func call(
            _ member: MemberName,
            _ interface: InterfaceName = Waymark.location,
            _ path: ObjectPath = Waymark.path
        ) async -> ErrorName? {
            await errorName {
                try await connection.call(member, on: interface, at: path, of: Waymark.busName)
            }
        }
        #expect(await call("Start", Waymark.location, "/org/waymark") == .unknownInterface)
        #expect(await call("Start", Waymark.location, "/nowhere") == .unknownObject)
        #expect(await call("Start", "org.waymark.Nothing") == .unknownInterface)
        #expect(await call("Begin") == .unknownMethod)
        #expect(await call("GetLocation") == .invalidArguments)
        #expect(
            await errorName { try await program.service.call("GetLocation", UInt32(1), "best") }
                == .invalidArguments
        )
        #expect(
            await errorName { try await program.service.call("GetLocation", "exact", UInt32(1)) }
                == WireError.invalidArguments
        )
        #expect(
            await errorName {
                try await program.service.call("GetLocation", "best", UInt32(600_001))
            } == WireError.invalidArguments
        )
        #expect(
            await errorName { try await program.service.call("Start", "x") } == .invalidArguments
        )
        await #expect(throws: DBusError.self) { try await program.session(["speed": 1.0]) }
        await #expect(throws: DBusError.self) {
            try await program.session(["distance-filter": -1.0])
        }
        await #expect(throws: DBusError.self) {
            try await program.service.set("InUse", to: true)
        }
        #expect(await call("GetAuthorization") == nil)
        #expect(rig.daemon.process.exit == nil)
    }

    @Test func `GetLocation gives one location and lets the source go`() async throws {
        let rig = try await Rig()
        rig.feed.greeting = Rig.track.sentences(0) + Rig.track.sentences(1)
        let program = try await rig.program()
        let location = try await program.service.call("GetLocation", "best", UInt32(10_000))
            .results(LocationDictionary.self)
        #expect(location.fix.coordinate.latitude == 48.2082)
        _ = try await rig.feed.ends.next("the source's release")
        // A moment later the same fix will do, and says that it is not new.
        let again = try await program.service.call("GetLocation", "best", UInt32(10_000))
            .results(LocationDictionary.self)
        #expect(again.isCached)
        #expect(again.fix.timestamp.since(location.fix.timestamp) <= .seconds(1))
    }

    @Test func `GetLocation without a fix ends in time`() async throws {
        let rig = try await Rig()
        let program = try await rig.program()
        #expect(
            await errorName { try await program.service.call("GetLocation", "best", UInt32(50)) }
                == WireError.locationUnknown
        )
    }

    @Test func `GetLocation takes a poor fix when the time is up`() async throws {
        let rig = try await Rig()
        let body = "GPGGA,100000.00,4812.49200,N,01622.42800,E,1,04,6.0,171.0,M,43.5,M,,"
        rig.feed.greeting = NMEATrack.sentence(body)
        let program = try await rig.program()
        let location = try await program.service.call("GetLocation", "best", UInt32(700))
            .results(LocationDictionary.self)
        #expect(location.fix.horizontalAccuracy == 30)
    }

    @Test func `one request at a time, and continuous updates go before`() async throws {
        let rig = try await Rig()
        let program = try await rig.program()
        let first = Task { @LoopActor in
            try await program.service.call("GetLocation", "best", UInt32(60_000))
        }
        _ = try await rig.feed.connections.next("the source's start")
        #expect(
            await errorName { try await program.service.call("GetLocation", "best", UInt32(1)) }
                == WireError.busy
        )
        try await program.service.call("Start")
        #expect(await errorName { try await first.value } == WireError.cancelled)
        #expect(
            await errorName { try await program.service.call("GetLocation", "best", UInt32(1)) }
                == WireError.busy
        )
        rig.play(0..<2)
        _ = try await program.location()
    }

    @Test func `without a source the answer is at once that nothing is known`() async throws {
        let bus = try await PrivateBus.start()
        let daemon = try await DaemonUnderTest.start(on: bus, configuration: Rig.everybody)
        let program = try await Program(try await bus.connect())
        #expect(
            await errorName {
                try await program.service.call("GetLocation", "best", UInt32(600_000))
            } == WireError.locationUnknown
        )
        try await program.service.call("Start")
        _ = try await program.news.next("a failure") { $0 == .failed("location-unknown") }
        #expect(try await program.service.get("AvailableAccuracy") == "none")
        try await daemon.stop()
    }

    @Test func `a session is its owner's alone, with filters of its own`() async throws {
        let rig = try await Rig()
        let program = try await rig.program()
        let session = try await program.session(["distance-filter": 10.0])
        let stranger = Proxy(
            try await rig.bus.connect(),
            destination: Waymark.busName,
            path: session.path,
            interface: Waymark.session
        )
        #expect(await errorName { try await stranger.call("Start") } == .unknownObject)
        await #expect(throws: DBusError.self) { try await stranger.getAll() }
        try await session.call("Start")
        _ = try await rig.feed.connections.next("the source's start")
        // Twenty epochs of 1.24 m each: told at 0, then each time that ten metres are passed.
        rig.play(0..<21)
        let told = [
            try await program.location(), try await program.location(),
            try await program.location(),
        ]
        let seconds = told.map { Int($0.fix.timestamp.microseconds / 1_000_000 % 60) }
        #expect(seconds == [0, 9, 18])
        let last = try await session.get("Location", as: [String: Value].self)
        #expect(last["latitude"] == .double(told[2].fix.coordinate.latitude))
        try await session.call("Close")
        #expect(await errorName { try await session.call("Start") } == .unknownObject)
        _ = try await rig.feed.ends.next("the source's release")
    }

    @Test func `properties tell their changes`() async throws {
        let rig = try await Rig()
        let program = try await rig.program()
        let changes = Mailbox<[String: Value]>()
        let subscription = try program.connection.subscribe(
            to: Signal<String, [String: Value], [String]>(
                "PropertiesChanged",
                of: "org.freedesktop.DBus.Properties",
                arguments: ["interface", "changed", "invalidated"]
            ),
            from: Waymark.path,
            of: try #require(try await program.connection.owner(of: Waymark.busName))
        ) { _, changed, _ in changes.append(changed) }
        #expect(try await program.service.get("InUse") == false)
        #expect(try await program.service.get("AvailableAccuracy") == "best")
        #expect(try await program.service.get("LocationServicesEnabled") == true)
        try await program.service.call("Start")
        _ = try await changes.next("in use") { $0 == ["InUse": true] }
        rig.feed.stopListening()
        rig.feed.closeAll()
        _ = try await changes.next("the outage") { $0["AvailableAccuracy"] == "none" }
        _ = try await program.news.next("a failure") { $0 == .failed("location-unknown") }
        try await program.service.call("Stop")
        _ = try await changes.next("not in use") { $0 == ["InUse": false] }
        subscription.cancel()
    }
}
