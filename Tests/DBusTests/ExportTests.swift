// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import Glibc
import TestKit
import Testing

/// Objects beyond the simple one: managers, fallbacks, what only some callers see, and handlers
/// whose callers leave.
@Suite @LoopActor struct ExportTests {
    private static let interface: InterfaceName = "org.example.Bell"
    private static let rung = Signal<UInt32>("Rung", of: interface, arguments: ["times"])

    @LoopActor private struct Pair {
        let bus: PrivateBus
        let service: Connection
        let client: Connection

        init() async throws {
            bus = try await PrivateBus.start()
            service = try await bus.connect()
            client = try await bus.connect()
        }

        func call<each Input: DBusEncodable>(
            _ member: MemberName,
            on interface: InterfaceName = ExportTests.interface,
            at path: ObjectPath,
            by caller: Connection? = nil,
            _ arguments: repeat each Input
        ) async throws -> Reply {
            try await (caller ?? client).call(
                member,
                on: interface,
                at: path,
                of: service.uniqueName,
                repeat each arguments
            )
        }

        func failure<each Input: DBusEncodable>(
            _ member: MemberName,
            on interface: InterfaceName = ExportTests.interface,
            at path: ObjectPath,
            by caller: Connection? = nil,
            _ arguments: repeat each Input
        ) async -> ErrorName? {
            do {
                _ = try await call(
                    member,
                    on: interface,
                    at: path,
                    by: caller,
                    repeat each arguments
                )
                return nil
            } catch {
                return (error as? DBusError)?.name
            }
        }
    }

    private static let manager: InterfaceName = "org.freedesktop.DBus.ObjectManager"
    private typealias Objects = [ObjectPath: [String: [String: Value]]]

    private func bell(_ tone: String) -> [Interface] {
        [Interface(Self.interface, [.property("Tone") { _ in tone }, .signal(Self.rung)])]
    }

    // MARK: Object managers

    @Test func `a manager tells of the objects below it, and of those that come and go`()
        async throws
    {
        let pair = try await Pair()
        pair.service.exportManager(at: "/bells")
        pair.service.export(bell("C"), at: "/bells/one")
        pair.service.export(bell("D"), at: "/bells/deep/two")
        pair.service.export(bell("E"), at: "/bellsong")
        pair.service.export(bell("F"), at: "/bells/mine", visibleTo: pair.client.uniqueName)
        pair.service.export(bell("G"), at: "/bells/theirs", visibleTo: ":1.999")
        let objects = try await pair.call("GetManagedObjects", on: Self.manager, at: "/bells")
            .results(Objects.self)
        #expect(
            objects == [
                "/bells/one": ["org.example.Bell": ["Tone": "C"]],
                "/bells/deep/two": ["org.example.Bell": ["Tone": "D"]],
                "/bells/mine": ["org.example.Bell": ["Tone": "F"]],
            ]
        )
        let news = Mailbox<String>()
        let added = try pair.client.subscribe(
            to: SignalMatch(interface: Self.manager, member: "InterfacesAdded")
        ) { message in
            let (path, interfaces) =
                (try? message.arguments(ObjectPath.self, [String: [String: Value]].self))
                ?? ("/wrong" as ObjectPath, [:])
            news.append("+\(path) \(interfaces["org.example.Bell"]?["Tone"]?.string ?? "")")
        }
        let removed = try pair.client.subscribe(
            to: SignalMatch(interface: Self.manager, member: "InterfacesRemoved")
        ) { message in
            let (path, interfaces) =
                (try? message.arguments(ObjectPath.self, [String].self)) ?? (
                    "/wrong" as ObjectPath, []
                )
            news.append("-\(path) \(interfaces)")
        }
        try await removed.established()
        let object = pair.service.export(bell("A"), at: "/bells/three")
        pair.service.export(bell("B"), at: "/elsewhere")
        pair.service.withdraw("/elsewhere")
        pair.service.export(bell("B"), at: "/bells/four", visibleTo: ":1.999")
        pair.service.export(bell("H"), at: "/bells/five", visibleTo: pair.client.uniqueName)
        object.withdraw()
        object.withdraw()
        pair.service.withdraw("/bells/five")
        #expect(try await news.next() == "+/bells/three A")
        #expect(try await news.next() == "+/bells/five H")
        #expect(try await news.next() == "-/bells/three [\"org.example.Bell\"]")
        #expect(try await news.next() == "-/bells/five [\"org.example.Bell\"]")
        let xml = try await pair.call(
            "Introspect",
            on: "org.freedesktop.DBus.Introspectable",
            at: "/bells"
        ).results(String.self)
        #expect(xml.contains("<method name=\"GetManagedObjects\">"))
        #expect(xml.contains("type=\"a{oa{sa{sv}}}\""))
        withExtendedLifetime((added, removed)) {}
    }

    // MARK: Fallbacks

    @Test func `one closure answers for many paths, the nearest first`() async throws {
        let pair = try await Pair()
        func answering(_ text: String) -> [Interface] {
            [
                Interface(
                    Self.interface,
                    [
                        .method("Where", out: ["where"]) { call in "\(text) \(call.path)" },
                        .property("Tone") { call in "\(text) \(call.path)" },
                    ]
                )
            ]
        }
        pair.service.exportFallback(below: "/") { call in
            call.path.string.hasSuffix("none") ? nil : answering("root")
        }
        pair.service.exportFallback(below: "/a/b") { _ in answering("deep") }
        pair.service.export(answering("own"), at: "/a/b/own")
        let places: [(ObjectPath, String)] = [
            ("/x", "root /x"), ("/a/b", "root /a/b"), ("/a/b/c", "deep /a/b/c"),
            ("/a/b/c/d", "deep /a/b/c/d"), ("/a/bc", "root /a/bc"), ("/a/b/own", "own /a/b/own"),
        ]
        for (path, expected) in places {
            #expect(try await pair.call("Where", at: path).results(String.self) == expected)
            let proxy = Proxy(
                pair.client,
                destination: pair.service.uniqueName,
                path: path,
                interface: Self.interface
            )
            #expect(try await proxy.get("Tone") == expected)
        }
        #expect(await pair.failure("Where", at: "/") == .unknownInterface)
        #expect(await pair.failure("Where", at: "/none") == .unknownObject)
        pair.service.withdrawFallback(below: "/a/b")
        #expect(
            try await pair.call("Where", at: "/a/b/c").results(String.self) == "root /a/b/c"
        )
        pair.service.withdrawFallback(below: "/")
        #expect(await pair.failure("Where", at: "/x") == .unknownObject)
    }

    // MARK: Who sees what

    @Test func `an interface that a caller cannot see does not exist for it`() async throws {
        let pair = try await Pair()
        let friend = pair.client.uniqueName
        let stranger = try await pair.bus.connect()
        pair.service.export(
            [
                Interface("org.example.Open", [.property("Name") { _ in "open" }]),
                Interface(
                    Self.interface,
                    [.method("Ring") { _ in }, .property("Tone") { _ in "C" }],
                    visibleTo: { $0.sender == friend }
                ),
            ],
            at: "/"
        )
        let properties: InterfaceName = "org.freedesktop.DBus.Properties"
        let introspectable: InterfaceName = "org.freedesktop.DBus.Introspectable"
        for (caller, sees) in [(pair.client, true), (stranger, false)] {
            #expect(
                await pair.failure("Ring", at: "/", by: caller) == (sees ? nil : .unknownInterface)
            )
            #expect(
                await pair.failure(
                    "Get",
                    on: properties,
                    at: "/",
                    by: caller,
                    "org.example.Bell",
                    "Tone"
                )
                    == (sees ? nil : .unknownInterface)
            )
            let all = try await pair.call("GetAll", on: properties, at: "/", by: caller, "")
                .results([String: Value].self)
            #expect(all == (sees ? ["Name": "open", "Tone": "C"] : ["Name": "open"]))
            let xml = try await pair.call("Introspect", on: introspectable, at: "/", by: caller)
                .results(String.self)
            #expect(xml.contains("org.example.Bell") == sees)
        }
    }

    @Test func `changes of an object's properties are told to its owner alone`() async throws {
        let pair = try await Pair()
        let stranger = try await pair.bus.connect()
        let heard = Mailbox<String>()
        let subscriptions = try [("client", pair.client), ("stranger", stranger)].map {
            name,
            side in
            try side.subscribe(to: SignalMatch(member: "PropertiesChanged")) { _ in
                heard.append(name)
            }
        }
        for subscription in subscriptions { try await subscription.established() }
        let object = pair.service.export(bell("C"), at: "/", visibleTo: pair.client.uniqueName)
        object.propertiesChanged("Tone", of: Self.interface)
        try object.emit(Self.rung, 1)
        #expect(try await heard.next() == "client")
        let open = pair.service.export(bell("D"), at: "/open")
        open.propertiesChanged("Tone", of: Self.interface)
        var told = [try await heard.next(), try await heard.next()]
        told.sort()
        #expect(told == ["client", "stranger"])
        withExtendedLifetime(subscriptions) {}
    }

    @Test func `one signal is sent to each of many, and to nobody else`() async throws {
        let pair = try await Pair()
        let heard = Mailbox<BusName>()
        var receivers: [Connection] = []
        var subscriptions: [Subscription] = []
        for _ in 0..<20 {
            let receiver = try await pair.bus.connect()
            let name = receiver.uniqueName
            subscriptions.append(
                try receiver.subscribe(
                    to: Self.rung,
                    from: "/",
                    of: pair.service.uniqueName
                ) { times in
                    if times == 7 { heard.append(name) }
                }
            )
            receivers.append(receiver)
        }
        let names = receivers.dropLast(5).map(\.uniqueName)
        try pair.service.emit(Self.rung, from: "/", toEach: names, 7)
        var told: Set<BusName> = []
        for _ in names { told.insert(try await heard.next()) }
        for receiver in receivers { _ = try await receiver.owner(of: receiver.uniqueName) }
        #expect(told == Set(names) && heard.contents.isEmpty)
        withExtendedLifetime(subscriptions) {}
    }

    // MARK: Callers

    @Test func `a handler is cancelled when its caller leaves, and others are not`() async throws {
        let pair = try await Pair()
        let begun = Mailbox<BusName?>()
        let ended = Mailbox<BusName?>()
        let gate = Mailbox<Void>()
        pair.service.export(
            [
                Interface(
                    Self.interface,
                    [
                        .asyncMethod("Wait") { call in
                            begun.append(call.sender)
                            do {
                                try await SystemTimekeeper.shared.sleep(for: .seconds(60))
                            } catch {
                                ended.append(call.sender)
                                throw error
                            }
                        },
                        .asyncMethod("Pass") { call in
                            begun.append(call.sender)
                            try await gate.next()
                        },
                    ]
                )
            ],
            at: "/"
        )
        let staying = LoopActor.task { try await pair.call("Pass", at: "/") }
        #expect(try await begun.next() == pair.client.uniqueName)
        for _ in 0..<20 {
            let leaver = try await pair.bus.connect()
            let call = LoopActor.task { try await pair.call("Wait", at: "/", by: leaver) }
            #expect(try await begun.next() == leaver.uniqueName)
            leaver.close()
            await #expect(throws: DBusError.self) { try await call.value }
            #expect(try await ended.next() == leaver.uniqueName)
        }
        gate.append(())
        _ = try await staying.value
        #expect(ended.contents.isEmpty)
    }

    @Test func `a caller that is killed in the middle of a call ends its handler`() async throws {
        let pair = try await Pair()
        let begun = Mailbox<Void>()
        let ended = Mailbox<Void>()
        pair.service.export(
            [
                Interface(
                    Self.interface,
                    [
                        .asyncMethod("Wait") { _ in
                            begun.append(())
                            try? await SystemTimekeeper.shared.sleep(for: .seconds(60))
                            ended.append(())
                        }
                    ]
                )
            ],
            at: "/"
        )
        let caller = try ChildProcess(
            "dbus-send",
            [
                "--bus=\(pair.bus.address)", "--print-reply",
                "--dest=\(pair.service.uniqueName)", "/", "org.example.Bell.Wait",
            ]
        )
        try await begun.next()
        caller.signal(SIGKILL)
        try await ended.next()
    }

    @Test func `a handler can ask who its caller is`() async throws {
        let pair = try await Pair()
        pair.service.export(
            [
                Interface(
                    Self.interface,
                    [
                        .asyncMethod("Who", out: ["uid", "pid"]) { call -> (UInt32, UInt32) in
                            let caller = try await call.credentials()
                            return (caller.userID, caller.processID ?? 0)
                        }
                    ]
                )
            ],
            at: "/"
        )
        let (user, process) = try await pair.call("Who", at: "/")
            .results(UInt32.self, UInt32.self)
        #expect(user == getuid() && process == UInt32(getpid()))
    }
}
