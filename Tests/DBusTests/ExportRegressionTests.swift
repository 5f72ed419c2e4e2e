// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import Glibc
import TestKit
import Testing

/// What an exported object tells, to whom, and until when its handlers run.
@Suite @LoopActor struct ExportRegressionTests {
    private static let interface: InterfaceName = "org.example.Bell"

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
            on interface: InterfaceName = ExportRegressionTests.interface,
            at path: ObjectPath = "/",
            _ arguments: repeat each Input
        ) async throws -> Reply {
            try await client.call(
                member,
                on: interface,
                at: path,
                of: service.uniqueName,
                repeat each arguments,
                timeout: .seconds(25)
            )
        }

        /// What the client hears of changed properties.
        func changes() async throws -> (Mailbox<([String: Value], [String])>, Subscription) {
            let changes = Mailbox<([String: Value], [String])>()
            let match = SignalMatch(member: "PropertiesChanged")
            let subscription = try client.subscribe(to: match) { message in
                if let (_, values, invalidated) = try? message.arguments(
                    String.self,
                    [String: Value].self,
                    [String].self
                ) {
                    changes.append((values, invalidated))
                }
            }
            try await subscription.established()
            return (changes, subscription)
        }
    }

    @Test func `a caller that leaves right behind its call ends the handler`() async throws {
        let bus = try FakeBus()
        let connection = try await Connection.open(.address(bus.address))
        let peer = try await bus.peers.next()
        let begun = Mailbox<Void>()
        let ended = Mailbox<Bool>()
        connection.export(
            [
                Interface(
                    Self.interface,
                    [
                        .asyncMethod("Wait") { _ in
                            begun.append(())
                            try? await SystemTimekeeper.shared.sleep(for: .seconds(10))
                            ended.append(Task.isCancelled)
                        }
                    ]
                )
            ],
            at: "/"
        )
        let watch = try connection.watchPeer(":1.99") {}
        let rule = try await peer.serial(of: "AddMatch")
        peer.send(WireMessage.reply(to: rule).bytes)
        let question = try await peer.serial(of: "GetNameOwner")
        peer.send(WireMessage.reply(to: question, "s", WireMessage.text(":1.99")).bytes)
        let text = WireMessage.text
        let left = WireMessage(
            type: 4,
            fields: [
                .path("/org/freedesktop/DBus"), .interface("org.freedesktop.DBus"),
                .member("NameOwnerChanged"), .sender("org.freedesktop.DBus"), .signature("sss"),
            ],
            body: text(":1.42") + [0, 0] + text(":1.42") + [0, 0] + text("")
        )
        peer.send(WireMessage.call("Wait").bytes + left.bytes)
        try await begun.next()
        // The bus says so if it is asked.
        LoopActor.task {
            let serial = try await peer.serial(of: "GetNameOwner")
            peer.send(
                WireMessage(
                    type: 3,
                    fields: [
                        .replySerial(serial), .sender("org.freedesktop.DBus"),
                        .errorName("org.freedesktop.DBus.Error.NameHasNoOwner"),
                    ]
                ).bytes
            )
        }
        #expect(try await ended.next() == true)
        withExtendedLifetime(watch) {}
    }

    @Test func `handlers, watches and names end with a bus that is lost for good`() async throws {
        let pair = try await Pair()
        let begun = Mailbox<Void>()
        let ends = Mailbox<String>()
        pair.service.export(
            [
                Interface(
                    Self.interface,
                    [
                        .asyncMethod("Wait") { _ in
                            begun.append(())
                            try? await SystemTimekeeper.shared.sleep(for: .seconds(10))
                            ends.append("handler \(Task.isCancelled)")
                        }
                    ]
                )
            ],
            at: "/"
        )
        let peer = try pair.service.watchPeer(pair.client.uniqueName) { ends.append("peer") }
        let name = try pair.service.watchName(pair.client.uniqueName) { owner in
            if owner == nil { ends.append("owner") }
        }
        try await pair.service.requestName("org.example.Bell") { ends.append("name \($0)") }
        let call = LoopActor.task { try await pair.call("Wait") }
        try await begun.next()
        _ = try await pair.service.owner(of: pair.client.uniqueName)
        pair.bus.process.signal(SIGKILL)
        _ = await call.result
        var told: Set<String> = []
        for _ in 0..<4 { told.insert(try await ends.next()) }
        #expect(told == ["handler true", "peer", "owner", "name false"])
        withExtendedLifetime((peer, name)) {}
    }

    @Test func `an object of one caller does not hide a fallback from the others`() async throws {
        let pair = try await Pair()
        let interface = Interface(Self.interface, [.method("Ring") { _ in }])
        pair.service.exportFallback(below: "/bells") { _ in [interface] }
        pair.service.export([interface], at: "/bells/one", visibleTo: ":1.999")
        _ = try await pair.call("Ring", at: "/bells/two")
        _ = try await pair.call("Ring", at: "/bells/one")
    }

    @Test func `changes of an interface are not told to those who cannot see it`() async throws {
        let pair = try await Pair()
        let (changes, subscription) = try await pair.changes()
        let object = pair.service.export(
            [
                Interface("org.example.Open", [.property("Name") { _ in "open" }]),
                Interface(
                    Self.interface,
                    [.property("Tone") { _ in "secret" }],
                    visibleTo: { $0.sender == ":1.999" }
                ),
            ],
            at: "/"
        )
        object.propertiesChanged("Tone", of: Self.interface)
        object.propertiesChanged("Name", of: "org.example.Open")
        #expect(try await changes.next().0 == ["Name": "open"])
        subscription.cancel()
    }

    @Test func `a property that cannot be read hides neither its object nor others`() async throws {
        let pair = try await Pair()
        pair.service.exportManager(at: "/")
        let news = Mailbox<ObjectPath>()
        let subscription = try pair.client.subscribe(
            to: SignalMatch(member: "InterfacesAdded")
        ) { message in
            let arguments = try? message.arguments(
                ObjectPath.self,
                [String: [String: Value]].self
            )
            if let (path, _) = arguments { news.append(path) }
        }
        try await subscription.established()
        let broken = Interface(
            Self.interface,
            [
                .property("Tone") { _ -> String in throw DBusError(.failed, "out of tune") },
                .property("Name") { _ in "big" },
            ]
        )
        pair.service.export([broken], at: "/broken")
        pair.service.export([Interface(Self.interface, [])], at: "/whole")
        #expect(try await news.next() == "/broken")
        #expect(try await news.next() == "/whole")
        let objects = try await pair.call(
            "GetManagedObjects",
            on: "org.freedesktop.DBus.ObjectManager"
        ).results([ObjectPath: [String: [String: Value]]].self)
        #expect(
            objects == [
                "/broken": ["org.example.Bell": ["Name": "big"]],
                "/whole": ["org.example.Bell": [:]],
            ]
        )
        subscription.cancel()
    }

    @Test func `an error whose details cannot be sent is an answer all the same`() async throws {
        let pair = try await Pair()
        let details: [String: [Value]] = [
            "Huge": Array(repeating: .string(String(repeating: "x", count: 9_000_000)), count: 4),
            "Many": Array(repeating: .byte(1), count: 255),
            "Wrong": [.string("a\0b")],
        ]
        pair.service.export(
            [
                Interface(
                    Self.interface,
                    details.map { name, values in
                        .method(MemberName(unchecked: name)) { _ in
                            throw DBusError(.accessDenied, "no", details: values)
                        }
                    }
                )
            ],
            at: "/"
        )
        for name in details.keys {
            await #expect(throws: DBusError(.accessDenied, "no")) {
                try await pair.call(MemberName(unchecked: name))
            }
        }
    }

    @Test func `a value that has no form does not hide the changes of others`() async throws {
        let pair = try await Pair()
        let (changes, subscription) = try await pair.changes()
        let object = pair.service.export(
            [
                Interface(
                    Self.interface,
                    [.property("Tone") { _ in "a\0b" }, .property("Name") { _ in "big" }]
                )
            ],
            at: "/"
        )
        object.propertiesChanged("Tone", "Name", of: Self.interface)
        let (values, invalidated) = try await changes.next()
        #expect(invalidated.contains("Tone"))
        #expect(values["Name"] == "big" || invalidated.contains("Name"))
        subscription.cancel()
    }

    @Test func `what is exported on a closed connection does not keep it`() async throws {
        let bus = try await PrivateBus.start()
        weak var weakly: Connection?
        do {
            let connection = try await bus.connect()
            weakly = connection
            connection.close()
            connection.export(
                [Interface(Self.interface, [.method("Ring") { _ in _ = connection.isOpen }])],
                at: "/"
            )
        }
        try await eventually("the release", within: .seconds(5)) { weakly == nil }
    }

    @Test func `a connection closed in a handler of its own call`() async throws {
        let bus = try await PrivateBus.start()
        for isAsync in [false, true] {
            let connection = try await bus.connect()
            connection.export(
                [
                    Interface(
                        Self.interface,
                        [
                            isAsync
                                ? .asyncMethod("Ring") { _ in connection.close() }
                                : .method("Ring") { _ in connection.close() }
                        ]
                    )
                ],
                at: "/"
            )
            await #expect(throws: DBusError.self) {
                try await connection.call(
                    "Ring",
                    on: Self.interface,
                    at: "/",
                    of: connection.uniqueName
                )
            }
        }
    }
}
