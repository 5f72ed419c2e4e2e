// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import Glibc
import TestKit
import Testing

@Suite @LoopActor struct ConnectionTests {
    private func silentService(
        on connection: Connection,
        begun: Mailbox<Void> = Mailbox()
    ) -> Mailbox<Void> {
        let gate = Mailbox<Void>()
        connection.export(
            [
                Interface(
                    "org.example.Silence",
                    [
                        .asyncMethod("Keep") { _ in
                            begun.append(())
                            try await gate.next(within: .seconds(60))
                        }
                    ]
                )
            ],
            at: "/"
        )
        return gate
    }

    private func keep(_ client: Connection, _ service: Connection) -> Proxy {
        Proxy(
            client,
            destination: service.uniqueName,
            path: "/",
            interface: "org.example.Silence"
        )
    }

    @Test func `an address that leads nowhere is an error`() async {
        await #expect(throws: DBusError.self) {
            try await Connection.open(.address("unix:path=/nonexistent/bus"))
        }
        await #expect(throws: DBusError.self) {
            try await Connection.open(.address("carrier-pigeon:"))
        }
    }

    @Test func `a call without an answer ends in time`() async throws {
        let bus = try await PrivateBus.start()
        let (service, client) = (try await bus.connect(), try await bus.connect())
        let gate = silentService(on: service)
        do {
            try await keep(client, service).call("Keep", timeout: .milliseconds(20))
            Issue.record("it was answered")
        } catch let error as DBusError {
            #expect(error.name == .noReply)
        }
        gate.append(())
    }

    @Test func `a cancelled call ends at once, and its late answer is nobody's`() async throws {
        let bus = try await PrivateBus.start()
        let (service, client) = (try await bus.connect(), try await bus.connect())
        let begun = Mailbox<Void>()
        let gate = silentService(on: service, begun: begun)
        let call = Task { @LoopActor in try await keep(client, service).call("Keep") }
        try await begun.next("the call's arrival")
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        gate.append(())
        #expect(try await client.owner(of: "org.example.Nobody") == nil)
    }

    @Test func `a call to nobody is an error`() async throws {
        let bus = try await PrivateBus.start()
        let client = try await bus.connect()
        do {
            try await client.call("Ring", on: "org.example.Bell", at: "/", of: "org.example.Bell")
            Issue.record("it was answered")
        } catch let error as DBusError {
            #expect(error.name == .serviceUnknown)
        }
    }

    @Test func `when the bus dies, calls end and the connection says so once`() async throws {
        let bus = try await PrivateBus.start()
        let (service, client) = (try await bus.connect(), try await bus.connect())
        let (begun, lost) = (Mailbox<Void>(), Mailbox<Void>())
        _ = silentService(on: service, begun: begun)
        client.onDisconnect = { lost.append(()) }
        let call = Task { @LoopActor in try await keep(client, service).call("Keep") }
        try await begun.next("the call's arrival")
        bus.process.signal(SIGKILL)
        try await lost.next("the news of the loss")
        await #expect(throws: DBusError.self) { try await call.value }
        #expect(!client.isOpen)
        #expect(lost.contents.isEmpty)
        await #expect(throws: DBusError.self) { _ = try await client.owner(of: "org.example.X") }
    }

    @Test func `closing answers the calls that wait`() async throws {
        let bus = try await PrivateBus.start()
        let (service, client) = (try await bus.connect(), try await bus.connect())
        let begun = Mailbox<Void>()
        _ = silentService(on: service, begun: begun)
        let call = Task { @LoopActor in try await keep(client, service).call("Keep") }
        try await begun.next("the call's arrival")
        client.close()
        client.close()
        await #expect(throws: DBusError.self) { try await call.value }
    }

    @Test func `credentials are the kernel's`() async throws {
        let bus = try await PrivateBus.start()
        let (one, other) = (try await bus.connect(), try await bus.connect())
        let credentials = try await one.credentials(of: other.uniqueName)
        #expect(credentials.userID == getuid())
        #expect(credentials.processID == UInt32(getpid()))
        await #expect(throws: DBusError.self) { try await one.credentials(of: ":1.9999") }
    }

    @Test func `the end of a peer is told, also if it came first`() async throws {
        let bus = try await PrivateBus.start()
        let (watcher, peer) = (try await bus.connect(), try await bus.connect())
        let ends = Mailbox<String>()
        let watch = try watcher.watchPeer(peer.uniqueName) { ends.append("peer") }
        // Nothing is told while it lives: the bus answers in order.
        _ = try await watcher.owner(of: peer.uniqueName)
        #expect(ends.contents.isEmpty)
        peer.close()
        #expect(try await ends.next() == "peer")
        let late = try watcher.watchPeer(":1.9999") { ends.append("late") }
        #expect(try await ends.next() == "late")
        watch.cancel()
        late.cancel()
    }

    @Test func `a name has one owner, who can give it back`() async throws {
        let bus = try await PrivateBus.start()
        let (one, other) = (try await bus.connect(), try await bus.connect())
        #expect(try await one.requestName("org.example.Bell") == .owner)
        #expect(try await one.requestName("org.example.Bell") == .alreadyOwner)
        #expect(try await other.requestName("org.example.Bell") == .exists)
        #expect(try await other.owner(of: "org.example.Bell") == one.uniqueName)
        try await one.releaseName("org.example.Bell")
        #expect(try await other.requestName("org.example.Bell") == .owner)
    }

    @Test func `a text with a NUL is refused before it is sent`() async throws {
        let bus = try await PrivateBus.start()
        let client = try await bus.connect()
        await #expect(throws: DBusError.self) {
            try await client.call(
                "Ring",
                on: "org.example.Bell",
                at: "/",
                of: client.uniqueName,
                "a\0b"
            )
        }
        #expect(InterfaceName(validating: "org.example\0.Bell") == nil)
        #expect(ObjectPath(validating: "/a//b") == nil)
        #expect(MemberName(validating: "a.b") == nil)
        #expect(BusName(validating: "org") == nil)
    }
}
