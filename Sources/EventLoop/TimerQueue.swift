// SPDX-License-Identifier: Apache-2.0

/// Something to be done at a time, that can be called off until then.
@LoopActor public final class Timer {
    /// When it is due.
    public let deadline: ContinuousClock.Instant
    fileprivate let order: UInt64
    fileprivate var action: (@LoopActor () -> Void)?
    /// Its place in the heap, `nil` once it is off the queue.
    fileprivate var index: Int?
    fileprivate weak var queue: TimerQueue?

    fileprivate init(
        deadline: ContinuousClock.Instant,
        order: UInt64,
        queue: TimerQueue,
        action: @escaping @LoopActor () -> Void
    ) {
        self.deadline = deadline
        self.order = order
        self.queue = queue
        self.action = action
    }

    /// Calls it off.
    ///
    /// Without effect once it has run or was called off.
    public func cancel() {
        // Taken out first and let go of afterwards: the end of what an action holds may well cancel
        // this timer again, which must not happen while the property is being changed.
        let action = action.take()
        if action != nil { queue?.remove(self) }
    }

    fileprivate func run() {
        action.take()?()
    }

    fileprivate func isBefore(_ other: Timer) -> Bool {
        (deadline, order) < (other.deadline, other.order)
    }
}

/// Timers in the order in which they are due; equal ones in the order in which they were added.
///
/// A binary heap in which each timer knows its place, so that calling one off is as cheap as
/// adding it: most timers are time-outs and never fire.
@LoopActor package final class TimerQueue {
    private var heap: [Timer] = []
    private var added: UInt64 = 0

    /// Makes an empty queue.
    package nonisolated init() {}

    /// When the next timer is due, `nil` if there is none.
    package var nextDeadline: ContinuousClock.Instant? { heap.first?.deadline }

    /// Adds a timer.
    package func add(
        at deadline: ContinuousClock.Instant,
        _ action: @escaping @LoopActor () -> Void
    ) -> Timer {
        added += 1
        let timer = Timer(deadline: deadline, order: added, queue: self, action: action)
        timer.index = heap.count
        heap.append(timer)
        siftUp(from: heap.count - 1)
        return timer
    }

    /// Takes the first timer that is due off the queue and runs it.
    ///
    /// - Returns: Whether there was one.
    package func runNext(dueAt now: ContinuousClock.Instant) -> Bool {
        guard let first = heap.first, first.deadline <= now else { return false }
        remove(first)
        first.run()
        return true
    }

    /// Runs the timers that are due, but not those that they add, which could go on for ever.
    package func runAll(dueAt now: ContinuousClock.Instant) {
        var due: [Timer] = []
        while let first = heap.first, first.deadline <= now {
            remove(first)
            due.append(first)
        }
        // One that an earlier one has called off in the meantime has no action any more.
        for timer in due { timer.run() }
    }

    fileprivate func remove(_ timer: Timer) {
        guard let index = timer.index else { return }
        timer.index = nil
        let last = heap.removeLast()
        guard last !== timer else { return }
        heap[index] = last
        last.index = index
        siftUp(from: index)
        siftDown(from: index)
    }

    private func siftUp(from start: Int) {
        var index = start
        while index > 0 {
            let parent = (index - 1) / 2
            guard heap[index].isBefore(heap[parent]) else { return }
            exchange(index, parent)
            index = parent
        }
    }

    private func siftDown(from start: Int) {
        var index = start
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2]
            where child < heap.count && heap[child].isBefore(heap[least]) {
                least = child
            }
            guard least != index else { return }
            exchange(index, least)
            index = least
        }
    }

    private func exchange(_ one: Int, _ other: Int) {
        heap.swapAt(one, other)
        heap[one].index = one
        heap[other].index = other
    }
}
