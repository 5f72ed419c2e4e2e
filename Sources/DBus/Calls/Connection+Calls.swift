// SPDX-License-Identifier: Apache-2.0

internal import CDBus
internal import EventLoop

extension Connection {
    /// Calls a method and waits for the answer.
    ///
    /// - Parameters:
    ///   - member: The method.
    ///   - interface: Its interface.
    ///   - path: The object.
    ///   - destination: The connection that has the object.
    ///   - arguments: The method's arguments.
    ///   - flags: What the peer and the bus may do for it.
    ///   - timeout: How long to wait; `nil` for as long as the connection lives.
    /// - Returns: The answer.
    /// - Throws: The peer's error; `NoReply` when time is up; `CancellationError` when the task
    ///   is cancelled.
    @discardableResult
    public func call<each Input: DBusEncodable>(
        _ member: MemberName,
        on interface: InterfaceName,
        at path: ObjectPath,
        of destination: BusName,
        _ arguments: repeat each Input,
        flags: CallFlags = [],
        timeout: Duration? = .seconds(25)
    ) async throws -> Reply {
        var message = try Message.call(
            member,
            on: interface,
            at: path,
            of: destination,
            flags: flags
        )
        try message.append(repeat each arguments)
        return try await call(message, timeout: timeout)
    }

    /// Sends a call and waits for the answer.
    ///
    /// The C function is `dbus_connection_send_with_reply`.
    ///
    /// - Parameters:
    ///   - message: The call.
    ///   - timeout: How long to wait; `nil` for as long as the connection lives.
    /// - Returns: The answer.
    /// - Throws: The peer's error; `NoReply` when time is up; `CancellationError` when the task
    ///   is cancelled.
    public func call(
        _ message: consuming Message,
        timeout: Duration? = .seconds(25)
    ) async throws -> Reply {
        try Task.checkCancellation()
        return try await start(message, timeout: timeout).reply
    }

    /// Sends a call and hands its answer to a closure, in the order of other arrivals: what a
    /// waiting task does with it happens a turn later.
    ///
    /// - Parameters:
    ///   - message: The call.
    ///   - timeout: How long to wait; `nil` for as long as the connection lives.
    ///   - handler: Takes the answer, once.
    /// - Returns: The call, to be ended by who does not want the answer any more.
    /// - Throws: If it cannot be sent; the handler is not called then.
    @discardableResult
    func start(
        _ message: consuming Message,
        timeout: Duration? = .seconds(25),
        _ handler: (@LoopActor (PendingCall.Outcome) -> Void)? = nil
    ) throws(DBusError) -> PendingCall {
        let library = try allow(message)
        let limit = timeout.map { CInt(min(max(($0 / .milliseconds(1)).rounded(.up), 1), 2e9)) }
        var pending: OpaquePointer?
        guard
            dbus_connection_send_with_reply(
                library,
                message.pointer,
                &pending,
                // The largest number stands for "no limit" (DBUS_TIMEOUT_INFINITE).
                limit ?? CInt.max
            ) != 0
        else { throw .outOfMemory }
        // libdbus succeeds without a pending call on a connection that is no longer there.
        guard let pending else { throw .closed }
        return PendingCall(adopting: pending, of: self, handler)
    }

    /// Sends a call whose answer nobody waits for, and which therefore need not be answered.
    public func callWithoutReply<each Input: DBusEncodable>(
        _ member: MemberName,
        on interface: InterfaceName,
        at path: ObjectPath,
        of destination: BusName,
        _ arguments: repeat each Input,
        flags: CallFlags = []
    ) throws(DBusError) {
        var message = try Message.call(
            member,
            on: interface,
            at: path,
            of: destination,
            flags: flags
        )
        dbus_message_set_no_reply(message.pointer, 1)
        try message.append(repeat each arguments)
        try send(message)
    }
}
