// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import Glibc
import TestKit
import Testing

/// Handlers that pull the rug from under themselves, and objects that must not outlive their use.
@Suite @LoopActor struct LifetimeTests {
    private static let rung = Signal<UInt32>("Rung", of: "org.example.Bell", arguments: ["times"])

    private func bell(_ members: Interface.Member...) -> [Interface] {
        [Interface("org.example.Bell", members)]
    }

    private func ring(
        _ client: Connection,
        _ service: Connection,
        _ member: MemberName = "Ring"
    ) async throws -> Reply {
        try await client.call(
            member,
            on: "org.example.Bell",
            at: "/",
            of: service.uniqueName
        )
    }

    @Test func `a method can close the connection it came by`() async throws {
        let bus = try await PrivateBus.start()
        let (service, client) = (try await bus.connect(), try await bus.connect())
        service.export(bell(.method("Ring") { _ in service.close() }), at: "/")
        await #expect(throws: DBusError.self) { try await ring(client, service) }
        #expect(!service.isOpen && client.isOpen)
    }

    @Test func `a signal's handler can close the connection it came by`() async throws {
        let bus = try await PrivateBus.start()
        let (service, client) = (try await bus.connect(), try await bus.connect())
        var heard = 0
        let closed = Mailbox<Void>()
        let subscriptions = try (0..<3).map { _ in
            try client.subscribe(to: Self.rung, from: "/", of: service.uniqueName) { _ in
                heard += 1
                client.close()
                closed.append(())
            }
        }
        _ = try await client.owner(of: service.uniqueName)
        for times in UInt32(0)..<3 { try service.emit(Self.rung, from: "/", times) }
        try await closed.next()
        _ = try await service.owner(of: service.uniqueName)
        #expect(heard == 1)
        for subscription in subscriptions { subscription.cancel() }
    }

    @Test func `who hears of the loss can close the connection and make a new one`() async throws {
        let bus = try await PrivateBus.start()
        let other = try await PrivateBus.start()
        let client = try await bus.connect()
        let replaced = Mailbox<Connection>()
        client.onDisconnect = {
            client.close()
            LoopActor.task { replaced.append(try await other.connect()) }
        }
        bus.process.signal(SIGKILL)
        let replacement = try await replaced.next()
        #expect(replacement.isOpen && !client.isOpen)
    }

    @Test func `the bus may die while a large message is on its way out`() async throws {
        let bus = try await PrivateBus.start()
        let client = try await bus.connect()
        let lost = Mailbox<Void>()
        client.onDisconnect = { lost.append(()) }
        bus.process.signal(SIGSTOP)
        // More than a socket takes, so that the connection waits for room to write.
        let call = LoopActor.task {
            try await client.call(
                "Ring",
                on: "org.example.Bell",
                at: "/",
                of: "org.example.Bell",
                String(repeating: "x", count: 5_000_000)
            )
        }
        try await SystemTimekeeper.shared.sleep(for: .milliseconds(1))
        bus.process.signal(SIGKILL)
        try await lost.next()
        await #expect(throws: DBusError.self) { try await call.value }
    }

    @Test func `a peer that dies during a call ends the wait`() async throws {
        let bus = try await PrivateBus.start()
        let (service, client) = (try await bus.connect(), try await bus.connect())
        let (begun, never) = (Mailbox<Void>(), Mailbox<Void>())
        service.export(
            bell(
                .asyncMethod("Ring") { _ in
                    begun.append(())
                    try await never.next()
                }
            ),
            at: "/"
        )
        let call = LoopActor.task { try await ring(client, service) }
        try await begun.next()
        service.close()
        do {
            _ = try await call.value
            Issue.record("it was answered")
        } catch let error as DBusError {
            #expect(error.name == .noReply)
        }
        never.append(())
    }

    @Test func `ten thousand calls at once are answered in order`() async throws {
        let bus = try await PrivateBus.start(limits: ["max_replies_per_connection": 20_000])
        let (service, client) = (try await bus.connect(), try await bus.connect())
        var next: UInt32 = 0
        service.export(
            bell(
                .method("Ring", out: ["number"]) { _ -> UInt32 in
                    next += 1
                    return next
                }
            ),
            at: "/"
        )
        let answered = Mailbox<UInt32>()
        let calls = (0..<10_000).map { _ in
            LoopActor.task {
                answered.append(try await ring(client, service).results(UInt32.self))
            }
        }
        for call in calls { try await call.value }
        #expect(answered.contents == Array(1...10_000))
    }

    @Test func `a bus that takes no more connections is an error`() async throws {
        let bus = try await PrivateBus.start(limits: ["max_connections_per_user": 1])
        let first = try await bus.connect()
        await #expect(throws: DBusError.self) { try await bus.connect() }
        #expect(try await first.owner(of: "org.example.Nobody") == nil)
    }

    @Test func `of two equal subscriptions one can end without the other`() async throws {
        let bus = try await PrivateBus.start()
        let (service, client) = (try await bus.connect(), try await bus.connect())
        let (first, second) = (Mailbox<UInt32>(), Mailbox<UInt32>())
        let one = try client.subscribe(to: Self.rung, from: "/", of: service.uniqueName) {
            first.append($0)
        }
        let other = try client.subscribe(to: Self.rung, from: "/", of: service.uniqueName) {
            second.append($0)
        }
        _ = try await client.owner(of: "org.example.Nobody")
        try service.emit(Self.rung, from: "/", 1)
        #expect(try await first.next() == 1)
        #expect(try await second.next() == 1)
        one.cancel()
        one.cancel()
        _ = try await client.owner(of: "org.example.Nobody")
        try service.emit(Self.rung, from: "/", 2)
        #expect(try await second.next() == 2)
        #expect(first.contents.isEmpty)
        other.cancel()
    }

    @Test func `a handler can end its own subscription, others, and begin one`() async throws {
        let bus = try await PrivateBus.start()
        let (service, client) = (try await bus.connect(), try await bus.connect())
        let heard = Mailbox<String>()
        @LoopActor final class Held { var subscriptions: [Subscription] = [] }
        let held = Held()
        func subscribe(_ name: String, _ then: @escaping @LoopActor () -> Void) throws {
            held.subscriptions.append(
                try client.subscribe(to: Self.rung, from: "/", of: service.uniqueName) { times in
                    heard.append("\(name) \(times)")
                    then()
                }
            )
        }
        let late = Mailbox<Subscription>()
        try subscribe("first") {
            for subscription in held.subscriptions { subscription.cancel() }
            held.subscriptions = []
            let new = try? client.subscribe(
                to: Self.rung,
                from: "/",
                of: service.uniqueName
            ) { heard.append("new \($0)") }
            if let new { late.append(new) }
        }
        try subscribe("second") {}
        _ = try await client.owner(of: "org.example.Nobody")
        try service.emit(Self.rung, from: "/", 1)
        let new = try await late.next()
        _ = try await client.owner(of: "org.example.Nobody")
        try service.emit(Self.rung, from: "/", 2)
        #expect(try await heard.next { $0.hasSuffix("2") } == "new 2")
        #expect(!heard.contents.contains { $0.hasPrefix("second") })
        new.cancel()
    }

    @Test func `who watches a peer can stop watching when it is told`() async throws {
        let bus = try await PrivateBus.start()
        let (watcher, peer) = (try await bus.connect(), try await bus.connect())
        let told = Mailbox<Void>()
        var watch: PeerWatch?
        watch = try watcher.watchPeer(peer.uniqueName) {
            watch?.cancel()
            watch = nil
            told.append(())
        }
        peer.close()
        try await told.next()
        _ = try await watcher.owner(of: "org.example.Nobody")
        #expect(watch == nil && told.contents.isEmpty)
    }

    @Test func `a connection that is let go of closes and is freed with all it had`() async throws {
        let bus = try await PrivateBus.start()
        let witness = try await bus.connect()
        final class Held: Sendable {}
        weak var connection: Connection?
        weak var held: Held?
        let ended = Mailbox<Void>()
        var watch: PeerWatch?
        do {
            let new = try await bus.connect()
            let inHandlers = Held()
            (connection, held) = (new, inHandlers)
            new.export(bell(.method("Ring") { _ in _ = inHandlers }), at: "/")
            new.onDisconnect = { _ = inHandlers }
            // Its subscription ends with the connection even if nobody lets go of it.
            let match = SignalMatch(member: "Rung")
            let subscription = try new.subscribe(to: match) { _ in _ = inHandlers }
            watch = try witness.watchPeer(new.uniqueName) { ended.append(()) }
            _ = try await ring(witness, new)
            _ = try await new.owner(of: "org.example.Nobody")
            withExtendedLifetime(subscription) {}
        }
        try await ended.next("the connection's end")
        try await eventually("the release") { connection == nil && held == nil }
        watch?.cancel()
    }

    @Test func `a call that has been answered, refused or cancelled is freed`() async throws {
        let bus = try await PrivateBus.start()
        let (service, client) = (try await bus.connect(), try await bus.connect())
        let (begun, never) = (Mailbox<Void>(), Mailbox<Void>())
        service.export(
            bell(
                .asyncMethod("Ring") { _ in begun.append(()) },
                .asyncMethod("Refuse") { _ in
                    begun.append(())
                    throw DBusError(.failed, "no")
                },
                .asyncMethod("Keep") { _ in
                    begun.append(())
                    try await never.next()
                }
            ),
            at: "/"
        )
        for member: MemberName in ["Ring", "Refuse", "Keep"] {
            let call = LoopActor.task { _ = try await ring(client, service, member) }
            weak var record: AnyObject?
            try await eventually("the call") {
                record =
                    (Mirror(reflecting: client).descendant("waiting") as? Set<AnyHashable>)?
                    .first?.base as AnyObject?
                return record != nil
            }
            try await begun.next()
            if member == "Keep" { call.cancel() }
            _ = await call.result
            try await eventually("the release of \(member)") { record == nil }
        }
        never.append(())
    }

    // MARK: Ends that begin others

    /// An owner that only a handler keeps alive, and that ends what it began when it ends.
    @LoopActor private final class Owner {
        let end: @LoopActor () -> Void
        init(_ end: @escaping @LoopActor () -> Void) { self.end = end }
        isolated deinit { end() }
    }

    @Test func `withdrawing an object can end its owner, who withdraws others`() async throws {
        let bus = try await PrivateBus.start()
        let service = try await bus.connect()
        var ends = 0
        do {
            let owner = Owner {
                ends += 1
                service.withdraw("/other")
                service.withdraw("/")
            }
            service.export(bell(.method("Ring") { _ in _ = owner }), at: "/")
            service.export(bell(), at: "/other")
        }
        service.withdraw("/")
        #expect(ends == 1)
    }

    @Test func `closing can end owners, who end what they began`() async throws {
        let bus = try await PrivateBus.start()
        let (service, peer) = (try await bus.connect(), try await bus.connect())
        var ends = 0
        @LoopActor final class Begun {
            var subscriptions: [Subscription] = []
            var watch: PeerWatch?
        }
        let begun = Begun()
        let end: @LoopActor () -> Void = {
            ends += 1
            for subscription in begun.subscriptions { subscription.cancel() }
            begun.watch?.cancel()
            service.withdraw("/other")
            service.close()
        }
        do {
            let (one, other, third) = (Owner(end), Owner(end), Owner(end))
            service.export(bell(.method("Ring") { _ in _ = one }), at: "/")
            service.export(bell(), at: "/other")
            service.onDisconnect = { _ = other }
            let match = SignalMatch(member: "Rung")
            begun.subscriptions = [
                try service.subscribe(to: match) { _ in },
                try service.subscribe(to: match) { _ in _ = third },
                try service.subscribe(to: match) { _ in },
            ]
            begun.watch = try service.watchPeer(peer.uniqueName) {}
        }
        #expect(ends == 0)
        service.close()
        #expect(!service.isOpen)
        _ = try await peer.owner(of: "org.example.Nobody")
        #expect(ends == 3)
    }

    @Test func `cancelling a peer's watch can end its owner, who cancels it`() async throws {
        let bus = try await PrivateBus.start()
        let (service, peer) = (try await bus.connect(), try await bus.connect())
        @LoopActor final class Begun { var watch: PeerWatch? }
        let begun = Begun()
        var ends = 0
        do {
            let owner = Owner {
                ends += 1
                begun.watch?.cancel()
            }
            begun.watch = try service.watchPeer(peer.uniqueName) { _ = owner }
        }
        begun.watch?.cancel()
        #expect(ends == 1)
    }

    @Test func `who holds an object that holds it is freed when that is withdrawn`() async throws {
        /// An object whose handlers refer to what holds the object.
        @LoopActor final class Owner {
            var object: ExportedObject?
            var rings = 0

            init(_ connection: Connection, at path: ObjectPath) {
                object = connection.export(
                    [
                        Interface(
                            "org.example.Bell",
                            [
                                .method("Ring") { _ in self.rings += 1 },
                                .property("Rings") { _ in Int32(self.rings) },
                            ]
                        )
                    ],
                    at: path
                )
            }
        }
        let bus = try await PrivateBus.start()
        let (service, client) = (try await bus.connect(), try await bus.connect())
        weak var withdrawn: Owner?
        weak var closed: Owner?
        do {
            let owners = [Owner(service, at: "/a"), Owner(service, at: "/b")]
            (withdrawn, closed) = (owners[0], owners[1])
            for path in ["/a", "/b"] as [ObjectPath] {
                let proxy = Proxy(
                    client,
                    destination: service.uniqueName,
                    path: path,
                    interface: "org.example.Bell"
                )
                try await proxy.call("Ring")
                #expect(try await proxy.get("Rings") == Int32(1))
            }
            owners[0].object?.withdraw()
            owners[0].object?.propertiesChanged("Rings", of: "org.example.Bell")
        }
        #expect(withdrawn == nil && closed != nil)
        service.close()
        #expect(closed == nil)
    }
}
