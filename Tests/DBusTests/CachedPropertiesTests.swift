// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import TestKit
import Testing

/// Properties that follow their object, on the other side of a bus.
@Suite @LoopActor struct CachedPropertiesTests {
    private static let interface: InterfaceName = "org.example.Lamp"
    private static let name: BusName = "org.example.Lamp"

    /// A service with a lamp.
    @LoopActor private final class Lamp {
        let connection: Connection
        var brightness: UInt32
        var colour = "white"
        private(set) var reads = 0
        private(set) var object: ExportedObject?

        init(_ bus: PrivateBus, brightness: UInt32 = 0) async throws {
            self.brightness = brightness
            connection = try await bus.connect()
            object = connection.export(
                [
                    Interface(
                        CachedPropertiesTests.interface,
                        [
                            .property("Brightness") { [unowned self] _ in
                                self.brightness
                            } set: { [unowned self] _, new in
                                self.brightness = new
                                object?.propertiesChanged("Brightness", of: interface)
                            },
                            .property("Colour", notice: .invalidation) { [unowned self] _ in
                                self.reads += 1
                                return self.colour
                            },
                            .property("Maker", notice: .constant) { _ in "Edison" },
                        ]
                    )
                ],
                at: "/lamp"
            )
            try await connection.requestName(CachedPropertiesTests.name)
        }
    }

    private func proxy(_ client: Connection) -> Proxy {
        Proxy(client, destination: Self.name, path: "/lamp", interface: Self.interface)
    }

    @Test func `values follow the object's changes without being asked for`() async throws {
        let bus = try await PrivateBus.start()
        let (lamp, client) = (try await Lamp(bus), try await bus.connect())
        let cache = try await proxy(client).cachedProperties()
        let changes = Mailbox<Set<String>>()
        cache.onChange = { changes.append($0) }
        #expect(cache.isAvailable)
        #expect(cache.values == ["Brightness": .uint32(0), "Colour": "white", "Maker": "Edison"])
        try await proxy(client).set("Brightness", to: UInt32(50))
        #expect(try await changes.next() == ["Brightness"])
        #expect(try cache.value(of: "Brightness") == UInt32(50))
        #expect(throws: DBusError.self) { try cache.value(of: "Brightness", as: String.self) }
        #expect(try cache.value(of: "Nothing", as: String.self) == nil)

        let reads = lamp.reads
        lamp.colour = "red"
        lamp.brightness = 7
        lamp.object?.propertiesChanged("Colour", "Brightness", "Colour", of: Self.interface)
        lamp.brightness = 8
        #expect(try await changes.next() == ["Brightness"])
        #expect(cache["Brightness"] == .uint32(8))
        #expect(try await changes.next() == ["Colour"])
        #expect(cache["Colour"] == "red")
        #expect(lamp.reads == reads + 1)
    }

    @Test func `a new owner of the name is asked for its own values`() async throws {
        let bus = try await PrivateBus.start()
        let client = try await bus.connect()
        var lamp: Lamp? = try await Lamp(bus, brightness: 1)
        let cache = try await proxy(client).cachedProperties()
        let changes = Mailbox<Set<String>>()
        cache.onChange = { changes.append($0) }
        for brightness in UInt32(2)..<5 {
            lamp?.connection.close()
            lamp = nil
            #expect(try await changes.next() == ["Brightness", "Colour", "Maker"])
            #expect(!cache.isAvailable && cache.values.isEmpty)
            lamp = try await Lamp(bus, brightness: brightness)
            #expect(try await changes.next() == ["Brightness", "Colour", "Maker"])
            #expect(cache.isAvailable && cache["Brightness"] == .uint32(brightness))
        }
        cache.cancel()
        lamp?.object?.propertiesChanged("Brightness", of: Self.interface)
        _ = try await client.owner(of: Self.name)
        #expect(changes.contents.isEmpty)
    }

    @Test func `nobody to ask, or nothing to tell, is an error`() async throws {
        let bus = try await PrivateBus.start()
        let client = try await bus.connect()
        await #expect {
            _ = try await proxy(client).cachedProperties()
        } throws: {
            ($0 as? DBusError)?.name == .serviceUnknown
        }
        let lamp = try await Lamp(bus)
        let wrong = Proxy(
            client,
            destination: lamp.connection.uniqueName,
            path: "/lamp",
            interface: "org.example.Piano"
        )
        await #expect {
            _ = try await wrong.cachedProperties()
        } throws: {
            ($0 as? DBusError)?.name == .unknownInterface
        }
    }
}
