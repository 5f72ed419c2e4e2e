// SPDX-License-Identifier: Apache-2.0

private import CLinux
private import Glibc

/// The time and the means to wait, given to whatever needs them, so that tests can give their own.
@LoopActor public protocol Timekeeper: AnyObject, Sendable {
    /// The time since boot, suspension included.
    var now: ContinuousClock.Instant { get }

    /// Civil time by the host's clock: microseconds since 1970-01-01 UTC.
    var microsecondsSinceEpoch: Int64 { get }

    /// Arranges for something to be done once, at a time; at the next turn if that has passed.
    ///
    /// - Parameters:
    ///   - deadline: When.
    ///   - action: What to do.
    /// - Returns: The means to call it off.
    func schedule(
        at deadline: ContinuousClock.Instant,
        _ action: @escaping @LoopActor () -> Void
    ) -> Timer
}

extension Timekeeper {
    /// Arranges for something to be done once, after a time.
    public func schedule(
        after delay: Duration,
        _ action: @escaping @LoopActor () -> Void
    ) -> Timer {
        schedule(at: now.advanced(by: delay), action)
    }

    /// Suspends the calling task for a time, without a thread of its own.
    ///
    /// - Parameter duration: How long; not at all if zero or less.
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    public func sleep(for duration: Duration) async throws {
        try Task.checkCancellation()
        guard duration > .zero else { return }
        let sleeper = Sleeper()
        try await withTaskCancellationHandler { @LoopActor in
            try await withCheckedThrowingContinuation { continuation in
                sleeper.begin(continuation, timer: schedule(after: duration) { sleeper.end() })
            }
        } onCancel: {
            Task { @LoopActor in sleeper.cancel() }
        }
    }
}

/// One sleeping task, woken exactly once by its timer or by cancellation.
@LoopActor private final class Sleeper {
    private var continuation: CheckedContinuation<Void, any Error>?
    private var timer: Timer?

    nonisolated init() {}

    func begin(_ continuation: CheckedContinuation<Void, any Error>, timer: Timer) {
        self.continuation = continuation
        self.timer = timer
        // Cancellation may have come before there was a continuation to resume.
        if Task.isCancelled { cancel() }
    }

    func end() {
        continuation?.resume()
        continuation = nil
    }

    func cancel() {
        timer?.cancel()
        continuation?.resume(throwing: CancellationError())
        continuation = nil
    }
}

/// Real time: the host's clocks and the event loop's timers.
@LoopActor public final class SystemTimekeeper: Timekeeper {
    /// The process's real time.
    public static let shared = SystemTimekeeper()

    private init() {}

    /// The time since boot, suspension included (`CLOCK_BOOTTIME`).
    public var now: ContinuousClock.Instant { .now }

    /// Civil time by the host's clock (`CLOCK_REALTIME`).
    public var microsecondsSinceEpoch: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }

    /// Adds a timer to the event loop.
    public func schedule(
        at deadline: ContinuousClock.Instant,
        _ action: @escaping @LoopActor () -> Void
    ) -> Timer {
        EventLoop.shared.timers.add(at: deadline, action)
    }
}
