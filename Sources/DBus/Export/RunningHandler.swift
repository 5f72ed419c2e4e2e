// SPDX-License-Identifier: Apache-2.0

internal import EventLoop

/// A handler that may wait, and what ends it early: that its caller leaves, or the connection ends.
@LoopActor final class RunningHandler {
    private var task: Task<Void, any Error>?
    private var watch: PeerWatch?
    private weak var order: HandlerOrder?
    private var isOver = false

    nonisolated init() {}

    /// Starts a handler; it begins at the loop's next turn.
    func start(_ handler: @escaping @LoopActor () async -> Void) {
        task = LoopActor.task { [self] in
            await handler()
            isOver = true
            task = nil
            order?.remove(self)
            watch.take()?.cancel()
        }
    }

    /// Cancels the handler's task when its caller leaves the bus; without effect if it is over.
    ///
    /// - Parameters:
    ///   - caller: The caller's unique name.
    ///   - connection: The connection by which the call came.
    ///   - isKnownAlive: Whether the bus would have told its end, and has not.
    func follow(_ caller: BusName, on connection: Connection, isKnownAlive: Bool) {
        guard !isOver else { return }
        guard connection.isOpen else { return cancel() }
        order = connection.handlers
        connection.handlers.add(self)
        watch = try? connection.watchPeer(caller, isKnownAlive: isKnownAlive) { [weak self] in
            self?.cancel()
        }
    }

    /// Cancels the handler's task.
    func cancel() {
        task?.cancel()
    }
}
