// SPDX-License-Identifier: Apache-2.0

/// The global actor of everything that runs on the event loop's one thread.
@globalActor public actor LoopActor {
    /// The actor's only instance.
    public static let shared = LoopActor()

    /// The event loop, as the executor that the actor's jobs run on.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        EventLoop.shared.asUnownedSerialExecutor()
    }

    /// Runs a closure as if isolated to the actor, for callbacks from C that arrive on its thread.
    ///
    /// Traps when it is called on another thread.
    ///
    /// - Parameter operation: What to run, at once, before this function returns.
    /// - Returns: What the closure returns.
    public static func assumeIsolated<Result: Sendable>(
        _ operation: @LoopActor () throws -> Result
    ) rethrows -> Result {
        typealias Isolated = @LoopActor () throws -> Result
        typealias Free = () throws -> Result
        EventLoop.shared.checkIsolated()
        // The two types differ in isolation alone, which has no representation at run time, and
        // the line above has proved it: the same step as `MainActor.assumeIsolated`.
        return try withoutActuallyEscaping(operation) { (isolated: @escaping Isolated) throws in
            try unsafeBitCast(isolated, to: Free.self)()
        }
    }
}

extension LoopActor {
    /// Starts a task that begins at the loop's next turn, after all that was enqueued before.
    ///
    /// Use this instead of `Task`: what Swift's concurrency runtime resumes without naming an
    /// actor, such as every continuation, goes to the task's preferred executor, and without one
    /// to a pool of threads that a daemon at rest has no use for. (`Task.immediate` would begin
    /// sooner, but does not with a preferred executor.)
    ///
    /// - Parameter operation: What the task does.
    /// - Returns: The task.
    @LoopActor @discardableResult
    public static func task<Success: Sendable>(
        _ operation: @escaping @LoopActor () async throws -> Success
    ) -> Task<Success, any Error> {
        Task(executorPreference: EventLoop.shared, operation: operation)
    }
}
