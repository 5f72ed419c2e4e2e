// SPDX-License-Identifier: Apache-2.0

import CDBus
import EventLoop
import TestKit

/// A client over libdbus alone, so that both services have the same one.
///
/// It blocks: nothing else of this process is to run while it measures.
@LoopActor final class RawClient {
    private let connection: OpaquePointer
    private let service: String

    /// The version of libdbus.
    static var libraryVersion: String {
        var (major, minor, micro): (CInt, CInt, CInt) = (0, 0, 0)
        dbus_get_version(&major, &minor, &micro)
        return "\(major).\(minor).\(micro)"
    }

    /// Connects to a bus.
    ///
    /// - Parameters:
    ///   - address: The bus's address.
    ///   - service: The name of the service that is called.
    /// - Throws: If there is no bus.
    init(_ address: String, for service: String) throws {
        self.service = service
        guard let pointer = dbus_connection_open_private(address, nil) else {
            throw BenchmarkError("cannot connect to \(address)")
        }
        connection = pointer
        dbus_connection_set_exit_on_disconnect(pointer, 0)
        guard dbus_bus_register(pointer, nil) != 0 else {
            throw BenchmarkError("cannot register with the bus")
        }
    }

    isolated deinit {
        dbus_connection_close(connection)
        dbus_connection_unref(connection)
    }

    /// Whether the service has its name.
    var isServiceThere: Bool { dbus_bus_name_has_owner(connection, service, nil) != 0 }

    /// Fetches a property again and again.
    ///
    /// - Parameters:
    ///   - count: How many calls to make.
    ///   - window: How many wait for their answers at a time.
    /// - Throws: If one fails, or answers do not come.
    func fetchProperty(_ count: Int, window: Int) throws {
        let call = try makeCall(
            at: "/org/freedesktop/GeoClue2/Manager",
            "org.freedesktop.DBus.Properties",
            "Get"
        )
        defer { dbus_message_unref(call) }
        try append("org.freedesktop.GeoClue2.Manager", to: call)
        try append("InUse", to: call)
        var (sent, answered) = (0, 0)
        while answered < count {
            while sent < count, sent - answered < window {
                let copy = dbus_message_copy(call)
                dbus_connection_send(connection, copy, nil)
                dbus_message_unref(copy)
                sent += 1
            }
            try receive { message in
                switch dbus_message_get_type(message) {
                case DBUS_MESSAGE_TYPE_METHOD_RETURN: answered += 1
                case DBUS_MESSAGE_TYPE_ERROR: throw BenchmarkError("a call has failed")
                default: break
                }
            }
        }
    }

    /// Makes clients that are told where they are.
    func addClients(_ count: Int) throws {
        for _ in 0..<count {
            let answer = try blockingCall(
                at: "/org/freedesktop/GeoClue2/Manager",
                "org.freedesktop.GeoClue2.Manager",
                "GetClient"
            )
            defer { dbus_message_unref(answer) }
            var iterator = DBusMessageIter()
            dbus_message_iter_init(answer, &iterator)
            var path: UnsafePointer<CChar>?
            guard dbus_message_iter_get_arg_type(&iterator) == CInt(UInt8(ascii: "o")) else {
                throw BenchmarkError("GetClient has no path in its answer")
            }
            dbus_message_iter_get_basic(&iterator, &path)
            guard let path else { continue }
            let interface = "org.freedesktop.GeoClue2.Client"
            dbus_message_unref(try blockingCall(at: path, interface, "Start"))
        }
    }

    /// Waits until so many signals have come.
    func awaitSignals(_ count: Int) throws {
        var arrived = 0
        while arrived < count {
            try receive { message in
                let interface = "org.freedesktop.GeoClue2.Client"
                if dbus_message_is_signal(message, interface, "LocationUpdated") != 0 {
                    arrived += 1
                }
            }
        }
        guard arrived == count else { throw BenchmarkError("there were \(arrived) signals") }
    }

    /// Takes what has arrived, or what comes first.
    private func receive(_ body: (OpaquePointer) throws -> Void) throws {
        var isIdle = dbus_connection_get_dispatch_status(connection) == DBUS_DISPATCH_COMPLETE
        let end = ContinuousClock.now.advanced(by: .seconds(30))
        repeat {
            guard ContinuousClock.now < end else { throw DeadlinePassed("the service") }
            guard dbus_connection_read_write(connection, isIdle ? 1000 : 0) != 0 else {
                throw BenchmarkError("the bus is gone")
            }
            while let message = dbus_connection_pop_message(connection) {
                defer { dbus_message_unref(message) }
                isIdle = false
                try body(message)
            }
        } while isIdle
    }

    // MARK: Messages

    private func makeCall(
        at path: UnsafePointer<CChar>,
        _ interface: String,
        _ member: String
    ) throws -> OpaquePointer {
        guard let call = dbus_message_new_method_call(service, path, interface, member) else {
            throw BenchmarkError("cannot make a call")
        }
        return call
    }

    private func append(_ text: String, to message: OpaquePointer) throws {
        var iterator = DBusMessageIter()
        dbus_message_iter_init_append(message, &iterator)
        text.withCString { pointer in
            var pointer: UnsafePointer<CChar>? = pointer
            dbus_message_iter_append_basic(&iterator, CInt(UInt8(ascii: "s")), &pointer)
        }
    }

    private func blockingCall(
        at path: UnsafePointer<CChar>,
        _ interface: String,
        _ member: String
    ) throws -> OpaquePointer {
        let call = try makeCall(at: path, interface, member)
        defer { dbus_message_unref(call) }
        guard
            let answer = dbus_connection_send_with_reply_and_block(connection, call, 20_000, nil)
        else { throw BenchmarkError("\(service) does not answer \(member)") }
        return answer
    }
}
