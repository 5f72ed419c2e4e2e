// SPDX-License-Identifier: Apache-2.0

internal import EventLoop

/// Keeps the handlers of a connection beginning in the order in which their calls arrive.
///
/// A handler that may wait is a task, which begins at the loop's next turn. One that does not wait
/// runs at once, unless such a task is about to begin: then it takes its place behind it.
@LoopActor final class HandlerOrder {
    private var aboutToBegin = 0
    /// The handlers that wait for something.
    private var waiting: [ObjectIdentifier: RunningHandler] = [:]

    nonisolated init() {}

    func add(_ handler: RunningHandler) {
        waiting[ObjectIdentifier(handler)] = handler
    }

    func remove(_ handler: RunningHandler) {
        waiting[ObjectIdentifier(handler)] = nil
    }

    /// Cancels the handlers that wait: their answers can go nowhere any more.
    func cancelAll() {
        for handler in Array(waiting.values) { handler.cancel() }
    }

    /// Starts a handler that may wait, which is cancelled if the caller leaves meanwhile.
    func start(_ call: Call, _ handler: @escaping @LoopActor () async -> Void) {
        let running = RunningHandler()
        aboutToBegin += 1
        running.start { [self] in
            aboutToBegin -= 1
            await handler()
        }
        guard let caller = call.sender, let connection = call.connection else { return }
        let (wasWatching, ends) = (connection.peers.isWatching, connection.peers.toldEnds)
        // Behind its beginning: most handlers do not really wait, and need not be watched over.
        EventLoop.shared.perform { [weak connection] in
            guard let connection else { return }
            // The caller's end may have been told meanwhile.
            let isAlive = wasWatching && ends == connection.peers.toldEnds
            running.follow(caller, on: connection, isKnownAlive: isAlive)
        }
    }

    /// Runs a handler that does not wait.
    func run(_ handler: @escaping @LoopActor () -> Void) {
        guard aboutToBegin > 0 else { return handler() }
        // What comes while it waits takes its place behind it, too.
        aboutToBegin += 1
        EventLoop.shared.perform { [self] in
            aboutToBegin -= 1
            handler()
        }
    }
}
