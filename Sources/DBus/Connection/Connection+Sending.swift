// SPDX-License-Identifier: Apache-2.0

internal import CDBus
internal import EventLoop

extension Connection {
    /// Sends a message, without waiting for it to leave.
    ///
    /// The C function is `dbus_connection_send`.
    ///
    /// - Throws: `Disconnected` on a closed connection, `LimitsExceeded` beyond ``limits``,
    ///   `NotSupported` if the bus cannot carry descriptors.
    public func send(_ message: borrowing Message) throws(DBusError) {
        let library = try allow(message)
        guard dbus_connection_send(library, message.pointer, nil) != 0 else { throw .outOfMemory }
    }

    /// Sends a call that makes the bus send less, however much waits for it.
    func sendRegardless<each Input: DBusEncodable>(
        _ member: MemberName,
        on interface: InterfaceName,
        at path: ObjectPath,
        of destination: BusName,
        _ arguments: repeat each Input
    ) throws(DBusError) {
        guard let library else { throw .closed }
        var message = try Message.call(member, on: interface, at: path, of: destination)
        dbus_message_set_no_reply(message.pointer, 1)
        try message.append(repeat each arguments)
        guard dbus_connection_send(library, message.pointer, nil) != 0 else { throw .outOfMemory }
    }

    /// Returns libdbus's connection if it may send a message.
    func allow(_ message: borrowing Message) throws(DBusError) -> OpaquePointer {
        guard let library else { throw .closed }
        try limits.allow(message, queued: dbus_connection_get_outgoing_size(library))
        guard
            message.descriptorCount == 0
                || dbus_connection_can_send_type(library, TypeCode.unixDescriptor) != 0
        else { throw DBusError(.notSupported, "the bus cannot carry descriptors") }
        return library
    }

    /// How many bytes wait because the bus does not read them.
    ///
    /// The C function is `dbus_connection_get_outgoing_size`.
    public var queuedSize: Int { library.map(dbus_connection_get_outgoing_size) ?? 0 }

    /// Waits until all that was sent has been written to the bus, without blocking the loop.
    ///
    /// - Throws: `Disconnected` if the connection ends before; `CancellationError` when the task is
    ///   cancelled.
    public func flush() async throws {
        // A queue that is empty because the bus has gone was not written.
        guard isConnected else { throw DBusError.closed }
        guard queuedSize > 0 else { return }
        let flush = Completion()
        flushes.append(flush)
        scheduleFlushed()
        try await flush.wait()
    }

    /// Whether libdbus has not noticed a loss that it will tell of after what has arrived before.
    var isConnected: Bool {
        library.map { dbus_connection_get_is_connected($0) != 0 } ?? false
    }

    /// Looks at the loop's next turn, outside of libdbus, whether all is written.
    func scheduleFlushed() {
        guard !flushes.isEmpty else { return }
        EventLoop.shared.perform { [self] in
            guard isConnected, queuedSize == 0 else { return }
            for flush in exchange(&flushes, with: []) { flush.complete() }
        }
    }
}
