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
