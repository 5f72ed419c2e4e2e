// SPDX-License-Identifier: Apache-2.0

internal import CDBus
internal import EventLoop

/// One reference to libdbus's record of a call that waits for its answer, which comes exactly
/// once: from the peer, from libdbus when time is up, or from this side.
@LoopActor final class PendingCall {
    typealias Outcome = Result<Reply, any Error>

    private let pointer: OpaquePointer
    private weak var connection: Connection?
    /// Takes the outcome in the order of arrivals.
    private var handler: (@LoopActor (Outcome) -> Void)?
    /// Takes it a turn later.
    private var waiter: CheckedContinuation<Reply, any Error>?
    private var outcome: Outcome?

    /// Takes over a reference that nobody else will give back.
    init(
        adopting pointer: OpaquePointer,
        of connection: Connection,
        _ handler: (@LoopActor (Outcome) -> Void)?
    ) {
        self.pointer = pointer
        self.connection = connection
        self.handler = handler
        connection.began(self)
        // libdbus does not hold this object, which holds libdbus's record: they would keep each
        // other. The connection holds it, until libdbus cannot call back any more.
        let notified = dbus_pending_call_set_notify(
            pointer,
            { _, context in completePendingCall(context) },
            Unmanaged.passUnretained(self).toOpaque(),
            nil
        )
        if notified == 0 {
            end(DBusError.outOfMemory)
        } else if dbus_pending_call_get_completed(pointer) != 0 {
            complete()
        }
    }

    isolated deinit {
        dbus_pending_call_unref(pointer)
    }

    /// Waits for the answer, or until the task is cancelled.
    var reply: Reply {
        get async throws {
            try await withTaskCancellationHandler { @LoopActor in
                try await withCheckedThrowingContinuation { continuation in
                    // A task may be off the actor for a moment between the call and this closure.
                    if let outcome { return continuation.resume(with: outcome) }
                    waiter = continuation
                }
            } onCancel: {
                Task { @LoopActor in end(CancellationError()) }
            }
        }
    }

    /// Gives up waiting; an answer that comes later is nobody's.
    func end(_ error: any Error) {
        guard outcome == nil else { return }
        dbus_pending_call_cancel(pointer)
        finish(.failure(error))
    }

    fileprivate func complete() {
        guard outcome == nil, let answer = dbus_pending_call_steal_reply(pointer) else { return }
        let message = Message(adopting: answer)
        if let error = message.error {
            finish(.failure(error))
        } else {
            finish(.success(Reply(message)))
        }
    }

    private func finish(_ outcome: Outcome) {
        self.outcome = outcome
        connection?.finished(self)
        handler.take()?(outcome)
        waiter.take()?.resume(with: outcome)
    }
}

extension PendingCall: Hashable {
    nonisolated static func == (left: PendingCall, right: PendingCall) -> Bool { left === right }

    nonisolated func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

private func completePendingCall(_ context: UnsafeMutableRawPointer?) {
    guard let context else { return }
    nonisolated(unsafe) let owner = context
    LoopActor.assumeIsolated {
        Unmanaged<PendingCall>.fromOpaque(owner).takeUnretainedValue().complete()
    }
}
