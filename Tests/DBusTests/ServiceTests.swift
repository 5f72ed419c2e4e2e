// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import TestKit
import Testing

/// A service and a client on a private bus, each with a connection of its own.
@LoopActor private struct Pair {
    static let interface: InterfaceName = "org.example.Bell"
    static let path: ObjectPath = "/org/example/Bell"
    static let rung = Signal<String, UInt32>("Rung", of: interface, arguments: ["by", "times"])

    let bus: PrivateBus
    let service: Connection
    let client: Connection
    let bell: Proxy

    init(_ members: [Interface.Member], visibleTo owner: BusName? = nil) async throws {
        bus = try await PrivateBus.start()
        service = try await bus.connect()
        client = try await bus.connect()
        service.export(
            [Interface(Self.interface, members)],
            at: Self.path,
            visibleTo: owner
        )
        bell = Proxy(
            client,
            destination: service.uniqueName,
            path: Self.path,
            interface: Self.interface
        )
    }
}

@Suite @LoopActor struct ServiceTests {
    @Test func `a method takes typed arguments and returns typed results`() async throws {
        let pair = try await Pair([
            .method("Repeat", in: ["text", "times"], out: ["all", "length"]) {
                (_, text: String, times: UInt32) -> (String, UInt64) in
                let all = String(repeating: text, count: Int(times))
                return (all, UInt64(all.utf8.count))
            }
        ])
        let reply = try await pair.bell.call("Repeat", "ding", UInt32(3))
        let (all, length) = try reply.results(String.self, UInt64.self)
        #expect(all == "dingdingding")
        #expect(length == 12)
    }

    @Test func `every basic type, arrays and dictionaries arrive as they were sent`() async throws {
        let pair = try await Pair([
            .method(
                "Echo",
                in: ["y", "b", "n", "q", "i", "u", "x", "t", "d", "s", "o", "g", "v", "as", "a"],
                out: ["y", "b", "n", "q", "i", "u", "x", "t", "d", "s", "o", "g", "v", "as", "a"]
            ) {
                (
                    _,
                    y: UInt8,
                    b: Bool,
                    n: Int16,
                    q: UInt16,
                    i: Int32,
                    u: UInt32,
                    x: Int64,
                    t: UInt64,
                    d: Double,
                    s: String,
                    o: ObjectPath,
                    g: Signature,
                    v: Value,
                    list: [String],
                    map: [String: [UInt16: Value]]
                ) in
                (y, b, n, q, i, u, x, t, d, s, o, g, v, list, map)
            }
        ])
        let value = Value.structure([
            .array(of: "(sv)", []),
            .dictionary(key: "s", value: "v", [.init(key: "k", value: .variant(.byte(7)))]),
            .variant(.variant(.objectPath("/"))),
        ])
        let map: [String: [UInt16: Value]] = ["one": [1: .double(.infinity)], "none": [:]]
        let reply = try await pair.bell.call(
            "Echo",
            UInt8.max,
            true,
            Int16.min,
            UInt16.max,
            Int32.min,
            UInt32.max,
            Int64.min,
            UInt64.max,
            -0.0,
            "Grüße, 🛰",
            ObjectPath("/a/b"),
            Signature("a{sv}"),
            value,
            ["", "x"],
            map
        )
        let got = try reply.results(
            UInt8.self,
            Bool.self,
            Int16.self,
            UInt16.self,
            Int32.self,
            UInt32.self,
            Int64.self,
            UInt64.self,
            Double.self,
            String.self,
            ObjectPath.self,
            Signature.self,
            Value.self,
            [String].self,
            [String: [UInt16: Value]].self
        )
        #expect(got.0 == .max && got.1 && got.2 == .min && got.3 == .max && got.4 == .min)
        #expect(got.5 == .max && got.6 == .min && got.7 == .max)
        #expect(got.8.sign == .minus && got.8 == 0)
        #expect(got.9 == "Grüße, 🛰" && got.10 == "/a/b" && got.11 == "a{sv}")
        #expect(got.12 == value)
        #expect(got.13 == ["", "x"])
        #expect(got.14 == map)
    }

    @Test func `calls of one sender begin in order while earlier ones still wait`() async throws {
        var begun: [UInt32] = []
        let gate = Mailbox<Void>()
        let pair = try await Pair([
            .asyncMethod("Wait", in: ["number"], out: ["number"]) { (_, number: UInt32) -> UInt32 in
                begun.append(number)
                if number == 0 { try await gate.next("the gate") }
                return number
            },
            .method("Now", in: ["number"], out: ["number"]) { (_, number: UInt32) -> UInt32 in
                begun.append(number)
                return number
            },
        ])
        let first = Task.immediate { @LoopActor in
            try await pair.bell.call("Wait", UInt32(0)).results(UInt32.self)
        }
        // All of these are on their way before the first is answered.
        var later: [Task<UInt32, any Error>] = []
        for number in UInt32(1)...20 {
            let member: MemberName = number.isMultiple(of: 2) ? "Wait" : "Now"
            later.append(
                Task.immediate { @LoopActor in
                    try await pair.bell.call(member, number).results(UInt32.self)
                }
            )
        }
        for (index, task) in later.enumerated() {
            #expect(try await task.value == UInt32(index + 1))
        }
        gate.append(())
        #expect(try await first.value == 0)
        #expect(begun.sorted() == Array(0...20))
        #expect(begun.filter { $0 > 0 } == Array(1...20))
    }

    @Test func `what a handler throws is the answer`() async throws {
        struct Surprise: Error {}
        let pair = try await Pair([
            .method("Refuse") { _ in throw DBusError("org.example.Error.Tired", "not\0now") },
            .asyncMethod("Surprise") { _ in throw Surprise() },
        ])
        await #expect(throws: DBusError("org.example.Error.Tired", "notnow")) {
            try await pair.bell.call("Refuse")
        }
        await #expect(throws: DBusError(.failed, "Surprise()")) {
            try await pair.bell.call("Surprise")
        }
    }

    @Test func `a wrong call gets the standard error and changes nothing`() async throws {
        let pair = try await Pair([
            .method("Ring", in: ["times"]) { (_, _: UInt32) in },
            .property("Tone", notice: .none) { _ in "C" },
        ])
        func name(_ call: () async throws -> Reply) async -> ErrorName? {
            do {
                _ = try await call()
                return nil
            } catch {
                return (error as? DBusError)?.name
            }
        }
        let other = { (path: ObjectPath, interface: InterfaceName) in
            Proxy(
                pair.client,
                destination: pair.service.uniqueName,
                path: path,
                interface: interface
            )
        }
        #expect(await name { try await pair.bell.call("Ring") } == .invalidArguments)
        #expect(await name { try await pair.bell.call("Ring", "twice") } == .invalidArguments)
        #expect(await name { try await pair.bell.call("Break") } == .unknownMethod)
        let elsewhere = other("/org/example/Drum", Pair.interface)
        #expect(await name { try await elsewhere.call("Ring", UInt32(1)) } == .unknownObject)
        let drum = other(Pair.path, "org.example.Drum")
        #expect(await name { try await drum.call("Ring", UInt32(1)) } == .unknownInterface)
        let properties = other(Pair.path, "org.freedesktop.DBus.Properties")
        let bell = Pair.interface.string
        #expect(
            await name { try await properties.call("Get", bell, "Colour") } == .unknownProperty
        )
        #expect(
            await name { try await properties.call("Get", "org.example.Drum", "Tone") }
                == .unknownInterface
        )
        #expect(
            await name { try await properties.call("Set", bell, "Tone", Variant("D")) }
                == .propertyReadOnly
        )
        #expect(await name { try await pair.bell.call("Ring", UInt32(1)) } == nil)
    }

    @Test func `a property is read, set and its change told`() async throws {
        var tone = "C"
        let pair = try await Pair([
            .property("Tone") { _ in
                tone
            } set: { _, new in
                guard new != "H" else { throw DBusError(.invalidArguments, "say B") }
                tone = new
            },
            .property("Weight", notice: .constant) { _ in 12.5 },
        ])
        let changes = Mailbox<[String: Value]>()
        let subscription = try pair.client.subscribe(
            to: Signal<String, [String: Value], [String]>(
                "PropertiesChanged",
                of: "org.freedesktop.DBus.Properties",
                arguments: ["interface", "changed", "invalidated"]
            ),
            from: Pair.path,
            of: pair.service.uniqueName
        ) { _, changed, _ in changes.append(changed) }
        #expect(try await pair.bell.get("Tone") == "C")
        try await pair.bell.set("Tone", to: "D")
        #expect(tone == "D")
        try pair.service.emitPropertiesChanged(
            of: Pair.interface,
            at: Pair.path,
            ["Tone": .string(tone)]
        )
        #expect(try await changes.next() == ["Tone": "D"])
        #expect(try await pair.bell.getAll() == ["Tone": "D", "Weight": 12.5])
        await #expect(throws: DBusError(.invalidArguments, "say B")) {
            try await pair.bell.set("Tone", to: "H")
        }
        await #expect(throws: DBusError.self) { try await pair.bell.set("Tone", to: UInt32(1)) }
        #expect(tone == "D")
        subscription.cancel()
    }

    @Test func `a signal with a destination reaches nobody else`() async throws {
        let pair = try await Pair([.signal(Pair.rung)])
        let stranger = try await pair.bus.connect()
        let (heard, overheard) = (Mailbox<String>(), Mailbox<String>())
        let mine = try pair.client.subscribe(
            to: Pair.rung,
            from: Pair.path,
            of: pair.service.uniqueName
        ) { by, _ in heard.append(by) }
        let theirs = try stranger.subscribe(
            to: Pair.rung,
            from: Pair.path,
            of: pair.service.uniqueName
        ) { by, _ in overheard.append(by) }
        // The bus answers in order: once it does, it knows of the wishes above.
        _ = try await pair.client.owner(of: "org.example.Nobody")
        _ = try await stranger.owner(of: "org.example.Nobody")
        try pair.service.emit(Pair.rung, from: Pair.path, to: pair.client.uniqueName, "one", 1)
        try pair.service.emit(Pair.rung, from: Pair.path, "all", 2)
        #expect(try await heard.next() == "one")
        #expect(try await heard.next() == "all")
        #expect(try await overheard.next() == "all")
        mine.cancel()
        theirs.cancel()
    }

    @Test func `an object can be seen by its owner alone`() async throws {
        let pair = try await Pair([.method("Ring") { _ in }], visibleTo: ":9.9")
        await #expect(throws: DBusError.self) { try await pair.bell.call("Ring") }
        let root = Proxy(
            pair.client,
            destination: pair.service.uniqueName,
            path: "/",
            interface: "org.freedesktop.DBus.Introspectable"
        )
        await #expect(throws: DBusError.self) { try await root.call("Introspect") }
        pair.service.withdraw(Pair.path)
        pair.service.export(
            [Interface(Pair.interface, [.method("Ring") { _ in }])],
            at: Pair.path,
            visibleTo: pair.client.uniqueName
        )
        try await pair.bell.call("Ring")
        let xml = try await root.call("Introspect").results(String.self)
        #expect(xml.contains(#"<node name="org"/>"#))
    }

    @Test func `introspection tells all members with their types`() async throws {
        let pair = try await Pair([
            .method("Ring", in: ["times"], out: ["heard"]) { (_, _: UInt32) in true },
            .property("Tone") { _ in "C" },
            .signal(Pair.rung),
        ])
        let introspectable = Proxy(
            pair.client,
            destination: pair.service.uniqueName,
            path: Pair.path,
            interface: "org.freedesktop.DBus.Introspectable"
        )
        let xml = try await introspectable.call("Introspect").results(String.self)
        for part in [
            #"<interface name="org.example.Bell">"#, #"<method name="Ring">"#,
            #"<arg name="times" type="u" direction="in"/>"#,
            #"<arg name="heard" type="b" direction="out"/>"#,
            #"<property name="Tone" type="s" access="read">"#, #"<arg name="by" type="s"/>"#,
            #"<interface name="org.freedesktop.DBus.Properties">"#,
        ] {
            #expect(xml.contains(part))
        }
    }
}
