// SPDX-License-Identifier: Apache-2.0

internal import EventLoop

/// Something that is done once, and the tasks that wait for it; each can give up waiting.
@LoopActor final class Completion {
    private var outcome: Result<Void, any Error>?
    private var waits: [UInt64: CheckedContinuation<Void, any Error>] = [:]
    private var lastWait: UInt64 = 0

    nonisolated init() {}

    /// Tells all who wait, and who will.
    func complete(_ outcome: Result<Void, any Error> = .success(())) {
        guard self.outcome == nil else { return }
        self.outcome = outcome
        for wait in exchange(&waits, with: [:]).values { wait.resume(with: outcome) }
    }

    /// Waits until it is done, or the task is cancelled.
    func wait() async throws {
        lastWait += 1
        let id = lastWait
        try await withTaskCancellationHandler { @LoopActor in
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                if let outcome {
                    continuation.resume(with: outcome)
                } else if Task.isCancelled {
                    continuation.resume(throwing: CancellationError())
                } else {
                    waits[id] = continuation
                }
            }
        } onCancel: {
            Task { @LoopActor in
                waits.removeValue(forKey: id)?.resume(throwing: CancellationError())
            }
        }
    }
}
