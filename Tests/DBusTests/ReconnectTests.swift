// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import Glibc
import TestKit
import Testing

/// What a bus that is restarted leaves of a connection that is to outlive it.
@Suite @LoopActor struct ReconnectTests {
    private static let interface: InterfaceName = "org.example.Bell"
    private static let rung = Signal<UInt32>("Rung", of: interface, arguments: ["times"])

    /// A connection that reconnects, and what it has told of its losses.
    @LoopActor private final class Side {
        let connection: Connection
        let events = Mailbox<String>()

        init(_ bus: PrivateBus, timekeeper: any Timekeeper = SystemTimekeeper.shared) async throws {
            connection = try await Connection.open(
                .address(bus.address),
                whenLost: .reconnect,
                timekeeper: timekeeper
            )
            connection.onDisconnect = { [events] in events.append("lost") }
            connection.onReconnect = { [events] in events.append("back") }
        }
    }

    private func stop(_ bus: PrivateBus) async throws {
        bus.process.signal(SIGKILL)
        _ = try await bus.process.waitForExit()
    }

    @Test func `names, objects, matches and watches are there again`() async throws {
        let bus = try await PrivateBus.start()
        let (service, client) = (try await Side(bus), try await Side(bus))
        service.connection.export(
            [Interface(Self.interface, [.method("Ring", out: ["times"]) { _ in UInt32(3) }])],
            at: "/"
        )
        let ownership = Mailbox<Bool>()
        let name: BusName = "org.example.Bell"
        try await service.connection.requestName(name) { ownership.append($0) }
        let heard = Mailbox<UInt32>()
        let subscription = try client.connection.subscribe(
            to: Self.rung,
            from: "/",
            of: name
        ) { heard.append($0) }
        let owners = Mailbox<BusName?>()
        let watch = try client.connection.watchName(name) { owners.append($0) }
        let departures = Mailbox<Void>()
        let peer = try client.connection.watchPeer(service.connection.uniqueName) {
            departures.append(())
        }
        #expect(try await owners.next() == service.connection.uniqueName)

        for _ in 0..<3 {
            try await stop(bus)
            for side in [service, client] { #expect(try await side.events.next() == "lost") }
            #expect(!service.connection.isOpen && !service.connection.isEnded)
            #expect(throws: DBusError.self) {
                try service.connection.emit(Self.rung, from: "/", 1)
            }
            _ = try await owners.next { $0 == nil }
            #expect(try await ownership.next() == false)
            try await bus.restart()
            for side in [service, client] { #expect(try await side.events.next() == "back") }
            #expect(try await ownership.next() == true)
            // Who is back sooner sees the name without an owner first.
            _ = try await owners.next { $0 == service.connection.uniqueName }
            let reply = try await client.connection.call(
                "Ring",
                on: Self.interface,
                at: "/",
                of: name
            )
            #expect(try reply.results(UInt32.self) == 3)
            try service.connection.emit(Self.rung, from: "/", 7)
            #expect(try await heard.next() == 7)
        }
        #expect(departures.contents.count == 1)
        withExtendedLifetime((subscription, watch, peer)) {}
    }

    @Test func `a call that waits when the bus goes ends at once`() async throws {
        let bus = try await PrivateBus.start()
        let (service, client) = (try await Side(bus), try await Side(bus))
        let begun = Mailbox<Void>()
        let ended = Mailbox<Bool>()
        service.connection.export(
            [
                Interface(
                    Self.interface,
                    [
                        .asyncMethod("Ring") { _ in
                            begun.append(())
                            try? await SystemTimekeeper.shared.sleep(for: .seconds(60))
                            ended.append(Task.isCancelled)
                        }
                    ]
                )
            ],
            at: "/"
        )
        let call = LoopActor.task {
            try await client.connection.call(
                "Ring",
                on: Self.interface,
                at: "/",
                of: service.connection.uniqueName,
                timeout: nil
            )
        }
        try await begun.next()
        try await stop(bus)
        await #expect {
            try await call.value
        } throws: {
            ($0 as? DBusError)?.name == .disconnected
        }
        // The caller has left, as far as the handler can know.
        #expect(try await ended.next() == true)
        try await bus.restart()
        #expect(try await client.events.next() == "lost")
        #expect(try await client.events.next() == "back")
    }

    @Test func `attempts follow each other more and more slowly, up to five seconds`() async throws
    {
        let bus = try await PrivateBus.start()
        let clock = ManualTimekeeper()
        let side = try await Side(bus, timekeeper: clock)
        try await stop(bus)
        #expect(try await side.events.next() == "lost")
        for milliseconds in [50, 100, 200, 400, 800, 1600, 3200, 5000, 5000] {
            try await eventually("the next attempt is awaited") { clock.isAwaited }
            clock.advance(by: .milliseconds(milliseconds - 1))
            #expect(clock.isAwaited)
            clock.advance(by: .milliseconds(1))
            #expect(!clock.isAwaited)
        }
        try await bus.restart()
        try await eventually("the next attempt is awaited") { clock.isAwaited }
        clock.advance(by: .seconds(5))
        #expect(try await side.events.next() == "back")
    }

    @Test func `a connection that is closed while it is lost stays away`() async throws {
        let bus = try await PrivateBus.start()
        let clock = ManualTimekeeper()
        let side = try await Side(bus, timekeeper: clock)
        try await stop(bus)
        #expect(try await side.events.next() == "lost")
        try await eventually("the next attempt is awaited") { clock.isAwaited }
        side.connection.close()
        try await eventually("nothing is awaited any more") { !clock.isAwaited }
        #expect(side.connection.isEnded)
        try await bus.restart()
        let witness = try await bus.connect()
        let names = try await witness.call(
            "ListNames",
            on: "org.freedesktop.DBus",
            at: "/org/freedesktop/DBus",
            of: "org.freedesktop.DBus"
        ).results([String].self)
        #expect(names.count == 2)
        #expect(side.events.contents.isEmpty)
    }

    @Test func `a name that another has taken in the meantime is lost`() async throws {
        let bus = try await PrivateBus.start()
        let clock = ManualTimekeeper()
        let side = try await Side(bus, timekeeper: clock)
        let ownership = Mailbox<Bool>()
        try await side.connection.requestName("org.example.Bell") { ownership.append($0) }
        try await stop(bus)
        #expect(try await ownership.next() == false)
        try await bus.restart()
        let other = try await bus.connect()
        try await other.requestName("org.example.Bell")
        try await eventually("the next attempt is awaited") { clock.isAwaited }
        clock.advance(by: .milliseconds(50))
        #expect(try await side.events.next() == "lost")
        #expect(try await side.events.next() == "back")
        #expect(ownership.contents.isEmpty)
        #expect(try await other.owner(of: "org.example.Bell") == other.uniqueName)
    }
}
