// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import TestKit
import Testing

/// An array whose writing fails, and that writes another one then.
private struct Odd: DBusEncodable {
    static var signature: Signature { "as" }
    func encode(into writer: inout MessageWriter) throws(DBusError) {
        do {
            try writer.appendArray(of: "s") { writer throws(DBusError) in
                try writer.append("a")
                try writer.append("b\0")
            }
        } catch {
            try writer.append(["fine"])
        }
    }
}

/// Messages that were not written to their end.
@Suite @LoopActor struct MessageRegressionTests {
    private static let interface: InterfaceName = "org.example.Bell"

    @Test func `half a message is not sent`() async throws {
        let bus = try await PrivateBus.start()
        let connection = try await bus.connect()
        var message = try Message.signal("Rung", of: Self.interface, from: "/")
        #expect(throws: DBusError.self) { try message.append(["a", "b\0"]) }
        try? connection.send(message)
        var other = try Message.signal("Rung", of: Self.interface, from: "/")
        #expect(throws: DBusError.self) { try other.append("a", Value.structure(["x", "b\0"])) }
        try? connection.send(other)
        #expect(try await connection.owner(of: connection.uniqueName) == connection.uniqueName)
    }

    @Test func `half a container that somebody wrote around is not sent`() async throws {
        let bus = try await PrivateBus.start()
        let connection = try await bus.connect()
        var message = try Message.signal("Rung", of: Self.interface, from: "/")
        do {
            try message.append(Odd())
            try connection.send(message)
        } catch {}
        #expect(try await connection.owner(of: connection.uniqueName) == connection.uniqueName)
    }
}
