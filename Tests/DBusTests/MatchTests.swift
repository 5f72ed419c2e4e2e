// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import TestKit
import Testing

/// What a bus is asked to send: each rule once, and only from whom it was asked for.
@Suite @LoopActor struct MatchTests {
    private static let interface: InterfaceName = "org.example.Bell"
    private static let rung = Signal<UInt32>("Rung", of: interface, arguments: ["times"])

    /// The rules that the bus has of a connection.
    private func rules(of connection: Connection, _ bus: PrivateBus) async throws -> [String] {
        // The bus answers in order: what the connection has sent is done before this is.
        _ = try await connection.owner(of: connection.uniqueName)
        let reply = try await bus.connect().call(
            "GetAllMatchRules",
            on: "org.freedesktop.DBus.Debug.Stats",
            at: "/org/freedesktop/DBus",
            of: "org.freedesktop.DBus"
        )
        return try reply.results([String: [String]].self)[connection.uniqueName.string] ?? []
    }

    @Test func `equal wishes are one rule, until the last of them ends`() async throws {
        let bus = try await PrivateBus.start()
        let client = try await bus.connect()
        let match = SignalMatch(
            path: "/a",
            interface: Self.interface,
            member: "Rung",
            arguments: [0: "it's", 2: ""]
        )
        var subscriptions: [Subscription] = []
        for _ in 0..<5 { subscriptions.append(try client.subscribe(to: match) { _ in }) }
        let other = try client.subscribe(to: SignalMatch(member: "Rung")) { _ in }
        #expect(try await rules(of: client, bus).count == 2)
        while subscriptions.count > 1 { subscriptions.removeLast() }
        #expect(try await rules(of: client, bus).count == 2)
        subscriptions[0].cancel()
        subscriptions[0].cancel()
        #expect(try await rules(of: client, bus).count == 1)
        other.cancel()
        #expect(try await rules(of: client, bus).isEmpty)
        let again = try client.subscribe(to: match) { _ in }
        try await again.established()
        #expect(try await rules(of: client, bus).count == 1)
        again.cancel()
    }

    @Test func `a bus that refuses a rule is heard of, and the connection goes on`() async throws {
        let bus = try await PrivateBus.start(limits: ["max_match_rules_per_connection": 2])
        let (service, client) = (try await bus.connect(), try await bus.connect())
        var kept: [Subscription] = []
        for path in ["/a", "/b"] as [ObjectPath] {
            kept.append(try client.subscribe(to: SignalMatch(path: path)) { _ in })
        }
        for subscription in kept { try await subscription.established() }
        let refused = try client.subscribe(to: SignalMatch(path: "/c")) { _ in }
        await #expect {
            try await refused.established()
        } throws: {
            ($0 as? DBusError)?.name == .limitsExceeded
        }
        let sequence = try client.signals(matching: SignalMatch(path: "/d"))
        await #expect(throws: DBusError.self) {
            for try await _ in sequence { Issue.record("a signal came") }
        }
        kept.removeLast().cancel()
        let heard = Mailbox<UInt32>()
        let late = try client.subscribe(to: Self.rung, from: "/e", of: service.uniqueName) {
            heard.append($0)
        }
        try await late.established()
        try service.emit(Self.rung, from: "/e", 3)
        #expect(try await heard.next() == 3)
    }

    @Test func `a signal counts only if the owner of the name has sent it`() async throws {
        let bus = try await PrivateBus.start()
        let (service, client) = (try await bus.connect(), try await bus.connect())
        let impostor = try await bus.connect()
        try await service.requestName("org.example.Bell", flags: [.allowReplacement])
        let heard = Mailbox<UInt32>()
        let subscription = try client.subscribe(to: Self.rung, from: "/", of: "org.example.Bell") {
            heard.append($0)
        }
        try await subscription.established()
        // The bus's rules do not hold for what is addressed to one connection.
        try impostor.emit(Self.rung, from: "/", to: client.uniqueName, 666)
        try impostor.emit(Self.rung, from: "/", 667)
        _ = try await impostor.owner(of: "org.example.Bell")
        try service.emit(Self.rung, from: "/", to: client.uniqueName, 1)
        try service.emit(Self.rung, from: "/", 2)
        #expect(try await heard.next() == 1)
        #expect(try await heard.next() == 2)
        // Whoever owns the name next is no impostor any more.
        try await impostor.requestName("org.example.Bell", flags: [.replaceExisting])
        try impostor.emit(Self.rung, from: "/", to: client.uniqueName, 3)
        #expect(try await heard.next() == 3)
        try service.emit(Self.rung, from: "/", to: client.uniqueName, 668)
        _ = try await service.owner(of: "org.example.Bell")
        try impostor.emit(Self.rung, from: "/", 4)
        #expect(try await heard.next() == 4)
    }

    @Test func `a service that is not there yet is heard when it comes`() async throws {
        let bus = try await PrivateBus.start()
        let client = try await bus.connect()
        let heard = Mailbox<UInt32>()
        let subscription = try client.subscribe(to: Self.rung, from: "/", of: "org.example.Bell") {
            heard.append($0)
        }
        try await subscription.established()
        for times in UInt32(1)...3 {
            let service = try await bus.connect()
            try await service.requestName("org.example.Bell")
            try service.emit(Self.rung, from: "/", times)
            #expect(try await heard.next() == times)
            service.close()
        }
    }

    @Test func `paths, names and arguments are matched as the bus matches them`() async throws {
        let bus = try await PrivateBus.start()
        let (service, client) = (try await bus.connect(), try await bus.connect())
        let said = Signal<String, String>("Said", of: Self.interface, arguments: ["who", "what"])
        let heard = Mailbox<String>()
        let matches: [(String, SignalMatch)] = [
            ("namespace", SignalMatch(pathNamespace: "/a")),
            ("second", SignalMatch(member: "Said", arguments: [1: "it's"])),
            ("dotted", SignalMatch(interface: Self.interface, argument0Namespace: "org.example")),
            ("all", SignalMatch(sender: service.uniqueName)),
        ]
        let subscriptions = try matches.map { name, match in
            try client.subscribe(to: match) { _ in heard.append(name) }
        }
        for subscription in subscriptions { try await subscription.established() }
        let end = EmptySignal("End", of: Self.interface)
        let cases: [(ObjectPath, String, String, Set<String>)] = [
            ("/a", "x", "y", ["namespace", "all"]),
            ("/a/b", "x", "it's", ["namespace", "second", "all"]),
            ("/ab", "org.example", "y", ["dotted", "all"]),
            ("/", "org.example.one", "y", ["dotted", "all"]),
            ("/", "org.exampleone", "y", ["all"]),
        ]
        for (path, who, what, expected) in cases {
            try service.emit(said, from: path, who, what)
            try service.emit(end, from: "/end")
            var names: [String] = []
            while names.filter({ $0 == "all" }).count < 2 { names.append(try await heard.next()) }
            #expect(Set(names) == expected)
            #expect(names.count == expected.count + 1)
        }
        withExtendedLifetime(subscriptions) {}
    }

    @Test func `ends of peers are told by one rule, which goes when nobody is watched`()
        async throws
    {
        let bus = try await PrivateBus.start()
        let client = try await bus.connect()
        let (one, two) = (try await bus.connect(), try await bus.connect())
        let ends = Mailbox<Int>()
        let watches = [
            try client.watchPeer(one.uniqueName) { ends.append(1) },
            try client.watchPeer(two.uniqueName) { ends.append(2) },
        ]
        #expect(try await rules(of: client, bus).count == 1)
        one.close()
        #expect(try await ends.next() == 1)
        watches[1].cancel()
        // The end of whoever comes next is the last that is told for nothing.
        two.close()
        try await eventually("the rule has gone") { try await rules(of: client, bus).isEmpty }
        #expect(ends.contents.isEmpty)
        withExtendedLifetime(watches) {}
    }
}
