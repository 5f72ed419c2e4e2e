// SPDX-License-Identifier: Apache-2.0

import CDBus
import EventLoop

/// A peer on bare libdbus and on a thread of its own, for what `DBus` itself refuses to send.
enum RawPeer {
    /// What came back for a call.
    enum Answer: Hashable, Sendable {
        case success
        case error(name: String, text: String)
        /// As many answers as came for a call that wants none.
        case unasked(Int)
    }

    /// A call that is sent as it is.
    struct Call: Sendable {
        var destination: String
        var path = "/"
        var interface: String?
        var member: String
        var wantsReply = true
        var append: @Sendable (UnsafeMutablePointer<DBusMessageIter>) -> Void = { _ in }
    }

    private struct LibraryFailure: Error {}

    /// Connects, makes a call and waits for the answer.
    static func call(_ call: Call, on address: String) async throws -> Answer {
        try await runBlocking {
            try withConnection(to: address) { connection in
                let message = dbus_message_new_method_call(
                    call.destination,
                    call.path,
                    call.interface,
                    call.member
                )
                guard let message else { throw LibraryFailure() }
                defer { dbus_message_unref(message) }
                var iterator = DBusMessageIter()
                dbus_message_iter_init_append(message, &iterator)
                call.append(&iterator)
                guard call.wantsReply else { return try unaskedAnswers(to: message, connection) }
                return try answer(to: message, connection)
            }
        }
    }

    /// Answers one call by an error whose first argument is a number.
    static func answerOnce(as name: String, on address: String) async throws {
        try await runBlocking {
            try withConnection(to: address) { connection in
                dbus_bus_request_name(connection, name, 0, nil)
                for _ in 0..<200 {
                    guard dbus_connection_read_write(connection, 100) != 0 else { break }
                    while let message = dbus_connection_pop_message(connection) {
                        defer { dbus_message_unref(message) }
                        guard dbus_message_get_type(message) == DBUS_MESSAGE_TYPE_METHOD_CALL,
                            let reply = dbus_message_new_error(message, "org.example.Odd", nil)
                        else { continue }
                        defer { dbus_message_unref(reply) }
                        var iterator = DBusMessageIter()
                        dbus_message_iter_init_append(reply, &iterator)
                        var number: UInt32 = 7
                        dbus_message_iter_append_basic(&iterator, code("u"), &number)
                        dbus_connection_send(connection, reply, nil)
                        dbus_connection_flush(connection)
                        return
                    }
                }
                throw LibraryFailure()
            }
        }
    }

    /// Appends a variant that holds the standard input's descriptor.
    static func appendDescriptor(inVariantTo iterator: UnsafeMutablePointer<DBusMessageIter>) {
        var inner = DBusMessageIter()
        dbus_message_iter_open_container(iterator, code("v"), "h", &inner)
        var descriptor: CInt = 0
        dbus_message_iter_append_basic(&inner, code("h"), &descriptor)
        dbus_message_iter_close_container(iterator, &inner)
    }

    /// Appends a text.
    static func append(_ text: String, to iterator: UnsafeMutablePointer<DBusMessageIter>) {
        text.withCString { pointer in
            var pointer: UnsafePointer<CChar>? = pointer
            dbus_message_iter_append_basic(iterator, code("s"), &pointer)
        }
    }

    static func code(_ letter: Unicode.Scalar) -> CInt { CInt(letter.value) }

    private static func withConnection<Result>(
        to address: String,
        _ body: (OpaquePointer) throws -> Result
    ) throws -> Result {
        guard let connection = dbus_connection_open_private(address, nil) else {
            throw LibraryFailure()
        }
        defer {
            dbus_connection_close(connection)
            dbus_connection_unref(connection)
        }
        dbus_connection_set_exit_on_disconnect(connection, 0)
        guard dbus_bus_register(connection, nil) != 0 else { throw LibraryFailure() }
        return try body(connection)
    }

    private static func answer(
        to message: OpaquePointer,
        _ connection: OpaquePointer
    ) throws -> Answer {
        var error = CDBus.DBusError()
        dbus_error_init(&error)
        defer { dbus_error_free(&error) }
        let reply = dbus_connection_send_with_reply_and_block(connection, message, 20_000, &error)
        if let reply {
            dbus_message_unref(reply)
            return .success
        }
        guard let name = error.name, let text = error.message else { throw LibraryFailure() }
        return .error(name: String(cString: name), text: String(cString: text))
    }

    /// Sends a call that wants no answer and one that does: what else comes was not asked for.
    private static func unaskedAnswers(
        to message: OpaquePointer,
        _ connection: OpaquePointer
    ) throws -> Answer {
        dbus_message_set_no_reply(message, 1)
        dbus_connection_send(connection, message, nil)
        let ping = dbus_message_new_method_call(
            dbus_message_get_destination(message),
            "/",
            "org.freedesktop.DBus.Peer",
            "Ping"
        )
        guard let ping else { throw LibraryFailure() }
        defer { dbus_message_unref(ping) }
        guard case .success = try answer(to: ping, connection) else { throw LibraryFailure() }
        var count = 0
        while let other = dbus_connection_pop_message(connection) {
            if dbus_message_get_reply_serial(other) != 0 { count += 1 }
            dbus_message_unref(other)
        }
        return .unasked(count)
    }
}
