// SPDX-License-Identifier: Apache-2.0

public import EventLoop

/// Time that stands still until a test moves it.
@LoopActor public final class ManualTimekeeper: Timekeeper {
    private let timers = TimerQueue()

    /// The time by this clock; begins at the time of creation.
    public private(set) var now = ContinuousClock.Instant.now

    /// Civil time by this clock; moves with `now`, and can be set to simulate a wrong host clock.
    public var microsecondsSinceEpoch: Int64 = 1_750_000_000_000_000

    /// Makes a clock that stands still.
    public init() {}

    /// Whether anything waits for this clock.
    public var isAwaited: Bool { timers.nextDeadline != nil }

    /// Arranges for something to be done when the clock is moved to or past a time.
    public func schedule(
        at deadline: ContinuousClock.Instant,
        _ action: @escaping @LoopActor () -> Void
    ) -> Timer {
        timers.add(at: deadline, action)
    }

    /// Moves the clock, stopping at each timer that becomes due on the way.
    public func advance(by duration: Duration) {
        let target = now.advanced(by: duration)
        while let next = timers.nextDeadline, next <= target {
            move(to: max(next, now))
            _ = timers.runNext(dueAt: now)
        }
        move(to: target)
    }

    /// Runs the next timer alone, moving the clock to it if it is not yet due.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    public func runNext() -> Bool {
        guard let next = timers.nextDeadline else { return false }
        if next > now { move(to: next) }
        return timers.runNext(dueAt: now)
    }

    private func move(to instant: ContinuousClock.Instant) {
        let step = now.duration(to: instant).components
        microsecondsSinceEpoch += step.seconds * 1_000_000 + step.attoseconds / 1_000_000_000_000
        now = instant
    }
}
