// SPDX-License-Identifier: Apache-2.0

internal import CDBus
public import EventLoop

/// The answer to a call.
@LoopActor public final class Reply {
    private let message: Message

    fileprivate init(_ message: consuming Message) {
        self.message = message
    }

    /// Reads all results.
    ///
    /// - Parameter types: The types that are expected, no more and no fewer.
    /// - Returns: The results, as a tuple if there are several.
    /// - Throws: `InvalidArgs` if the peer has sent others.
    public func results<each Output: DBusDecodable>(
        _ types: repeat (each Output).Type
    ) throws(DBusError) -> (repeat each Output) {
        try message.arguments(repeat each types)
    }
}

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
        else { throw DBusError.outOfMemory }
        // libdbus succeeds without a pending call on a connection that is no longer there.
        guard let pending else { throw DBusError.closed }
        let call = PendingCall(adopting: pending)
        waiting.insert(call)
        defer {
            call.forget()
            waiting.remove(call)
        }
        return try await call.reply
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

/// One reference to libdbus's record of a call that waits, resumed exactly once.
@LoopActor final class PendingCall {
    private let pointer: OpaquePointer
    private var continuation: CheckedContinuation<Reply, any Error>?
    /// Why waiting ended before it had begun: a task may be off the actor for a moment between
    /// the call and the closure that gets its continuation.
    private var earlyEnd: (any Error)?

    /// Takes over a reference that nobody else will give back.
    init(adopting pointer: OpaquePointer) {
        self.pointer = pointer
    }

    isolated deinit {
        dbus_pending_call_unref(pointer)
    }

    var reply: Reply {
        get async throws {
            try await withTaskCancellationHandler { @LoopActor in
                try await withCheckedThrowingContinuation { continuation in
                    if let earlyEnd { return continuation.resume(throwing: earlyEnd) }
                    self.continuation = continuation
                    // libdbus does not hold this object, which holds libdbus's record: they would
                    // keep each other. Who waits holds it, until libdbus cannot call back any more.
                    let notified = dbus_pending_call_set_notify(
                        pointer,
                        { _, context in finish(context) },
                        Unmanaged.passUnretained(self).toOpaque(),
                        nil
                    )
                    if notified == 0 {
                        resume(throwing: DBusError.outOfMemory)
                    } else if dbus_pending_call_get_completed(pointer) != 0 {
                        complete()
                    }
                }
            } onCancel: {
                Task { @LoopActor in end(CancellationError()) }
            }
        }
    }

    func complete() {
        guard continuation != nil, let answer = dbus_pending_call_steal_reply(pointer) else {
            return
        }
        let message = Message(adopting: answer)
        if let error = message.error {
            resume(throwing: error)
        } else {
            let continuation = continuation
            self.continuation = nil
            continuation?.resume(returning: Reply(message))
        }
    }

    /// Makes sure that libdbus does not call back any more.
    func forget() {
        dbus_pending_call_cancel(pointer)
    }

    /// Gives up waiting; an answer that comes later is nobody's.
    func end(_ error: any Error) {
        dbus_pending_call_cancel(pointer)
        guard continuation != nil else { return earlyEnd = error }
        resume(throwing: error)
    }

    private func resume(throwing error: any Error) {
        continuation?.resume(throwing: error)
        continuation = nil
    }
}

extension PendingCall: Hashable {
    nonisolated static func == (left: PendingCall, right: PendingCall) -> Bool { left === right }

    nonisolated func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

private func finish(_ context: UnsafeMutableRawPointer?) {
    guard let context else { return }
    nonisolated(unsafe) let owner = context
    LoopActor.assumeIsolated {
        Unmanaged<PendingCall>.fromOpaque(owner).takeUnretainedValue().complete()
    }
}
