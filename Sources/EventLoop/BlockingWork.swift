// SPDX-License-Identifier: Apache-2.0

private import Glibc

/// Runs what would block the loop, such as a name look-up, on a thread that lives only for it.
///
/// There is no pool: such work is rare, and at rest the process has one thread.
///
/// - Parameter work: What to run; it is not interrupted if the caller is cancelled.
/// - Returns: What the work returns.
/// - Throws: What the work throws, or a `SystemError` if no thread could be started.
@LoopActor public func runBlocking<Result: Sendable>(
    _ work: @escaping @Sendable () throws -> Result
) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        let box = Unmanaged.passRetained(
            Box { continuation.resume(with: Swift.Result { try work() }) }
        )
        var thread = pthread_t()
        let status = pthread_create(
            &thread,
            nil,
            runBox,
            box.toOpaque()
        )
        guard status == 0 else {
            box.release()
            continuation.resume(
                throwing: SystemError(code: status, operation: "start a thread")
            )
            return
        }
        pthread_detach(thread)
    }
}

/// The thread's body.
///
/// A closure inside the function above would count as isolated to the actor.
private func runBox(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let argument { Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().run() }
    return nil
}

private final class Box: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) {
        self.run = run
    }
}
