// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import TestKit
import Testing

/// Properties that are asked for while their connection ends, or of an owner that is none.
@Suite @LoopActor struct ClientRegressionTests {
    private func properties(_ connection: Connection) -> Task<CachedProperties, any Error> {
        LoopActor.task {
            try await Proxy(
                connection,
                destination: "org.example.Lamp",
                path: "/lamp",
                interface: "org.example.Lamp"
            ).cachedProperties()
        }
    }

    @Test func `who waits for properties is told that the connection was closed`() async throws {
        let bus = try FakeBus()
        let connection = try await Connection.open(.address(bus.address))
        let peer = try await bus.peers.next()
        let ended = Mailbox<Void>()
        let waiting = properties(connection)
        LoopActor.task {
            _ = await waiting.result
            ended.append(())
        }
        _ = try await peer.serial(of: "GetNameOwner")
        connection.close()
        try await ended.next()
    }

    @Test func `an owner of the properties' name that is none is an error`() async throws {
        let victim = try await BusVictim(on: try FakeBus())
        let waiting = properties(victim.connection)
        let serial = try await victim.peer.serial(of: "GetNameOwner")
        victim.peer.send(WireMessage.reply(to: serial, "s", WireMessage.text("no name")).bytes)
        try await victim.expectAnswer()
        waiting.cancel()
        await #expect(throws: (any Error).self) { try await waiting.value }
    }

    @Test func `a property whose new value cannot be had is told to be gone`() async throws {
        let bus = try await PrivateBus.start()
        let (service, client) = (try await bus.connect(), try await bus.connect())
        let broken = Mailbox<Void>()
        let object = service.export(
            [
                Interface(
                    "org.example.Bell",
                    [
                        .property("Tone", notice: .invalidation) { _ -> String in
                            if !broken.contents.isEmpty { throw DBusError(.failed, "broken") }
                            return "C"
                        }
                    ]
                )
            ],
            at: "/"
        )
        let cache = try await Proxy(
            client,
            destination: service.uniqueName,
            path: "/",
            interface: "org.example.Bell"
        ).cachedProperties()
        let changes = Mailbox<Set<String>>()
        cache.onChange = { changes.append($0) }
        broken.append(())
        object.propertiesChanged("Tone", of: "org.example.Bell")
        #expect(try await changes.next(within: .seconds(3)) == ["Tone"])
        #expect(cache["Tone"] == nil)
    }

    @Test func `an error with details beyond measure is read without them`() async throws {
        let bus = try await PrivateBus.start()
        let (service, client) = (try await bus.connect(), try await bus.connect())
        let bytes = Value.array(of: "y", Array(repeating: .byte(7), count: 200_000))
        for details in [[bytes], [.byte(1), .variant(bytes)]] {
            service.export(
                [
                    Interface(
                        "org.example.Bell",
                        [
                            .method("Ring") { _ in
                                throw DBusError(.accessDenied, "no", details: details)
                            }
                        ]
                    )
                ],
                at: "/"
            )
            // In memory a value takes forty times the place of a byte.
            await #expect(throws: DBusError(.accessDenied, "no")) {
                try await client.call(
                    "Ring",
                    on: "org.example.Bell",
                    at: "/",
                    of: service.uniqueName
                )
            }
            service.withdraw("/")
        }
    }
}
