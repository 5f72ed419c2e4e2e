// SPDX-License-Identifier: Apache-2.0

import EventLoop
import TestKit
import Testing

/// A generator whose numbers are the same in every run.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

@Suite @LoopActor struct TimerQueueTests {
    private let queue = TimerQueue()
    private let start = ContinuousClock.Instant.now

    private func instant(_ milliseconds: Int) -> ContinuousClock.Instant {
        start.advanced(by: .milliseconds(milliseconds))
    }

    @Test(arguments: [1, 2, 3, 4])
    func `it agrees with a sorted list, whatever is added, cancelled and run`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var model: [(deadline: Int, id: Int, timer: Timer)] = []
        var ran: [Int] = []
        for id in 0..<4000 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                // Few different deadlines, so that many are equal.
                let deadline = Int.random(in: 0..<40, using: &random)
                let timer = queue.add(at: instant(deadline)) { ran.append(id) }
                model.append((deadline, id, timer))
            case 5..<8:
                guard let index = model.indices.randomElement(using: &random) else { continue }
                model.remove(at: index).timer.cancel()
            default:
                let now = Int.random(in: 0..<40, using: &random)
                let next = model.min { ($0.deadline, $0.id) < ($1.deadline, $1.id) }
                ran = []
                let didRun = queue.runNext(dueAt: instant(now))
                if let next, next.deadline <= now {
                    #expect(didRun && ran == [next.id])
                    model.removeAll { $0.id == next.id }
                } else {
                    #expect(!didRun && ran.isEmpty)
                }
            }
            #expect(queue.nextDeadline == model.map(\.deadline).min().map(instant))
        }
        ran = []
        while queue.runNext(dueAt: instant(40)) {}
        let rest = model.sorted { ($0.deadline, $0.id) < ($1.deadline, $1.id) }
        #expect(ran == rest.map(\.id))
        #expect(queue.nextDeadline == nil)
    }

    @Test func `timers that are due together run in the order in which they were added`() {
        var ran: [Int] = []
        for id in 0..<100 { _ = queue.add(at: start) { ran.append(id) } }
        while queue.runNext(dueAt: start) {}
        #expect(ran == Array(0..<100))
    }

    @Test func `one that has run or is cancelled twice leaves the others alone`() {
        var ran: [Int] = []
        let timers = (0..<5).map { id in queue.add(at: instant(id)) { ran.append(id) } }
        #expect(queue.runNext(dueAt: start))
        timers[0].cancel()
        timers[3].cancel()
        timers[3].cancel()
        while queue.runNext(dueAt: instant(5)) {}
        timers[4].cancel()
        #expect(ran == [0, 1, 2, 4])
    }

    @Test func `an action can cancel its own timer, others, and add new ones`() {
        var ran: [String] = []
        var own: Timer?
        var other: Timer?
        own = queue.add(at: instant(1)) {
            ran.append("own")
            own?.cancel()
            other?.cancel()
            _ = queue.add(at: instant(3)) { ran.append("new") }
        }
        other = queue.add(at: instant(2)) { ran.append("other") }
        _ = queue.add(at: instant(2)) { ran.append("last") }
        while queue.runNext(dueAt: instant(2)) {}
        #expect(ran == ["own", "last"])
        #expect(queue.nextDeadline == instant(3))
    }

    @Test func `what an action holds is let go of when it has run or is cancelled`() {
        final class Held {}
        weak var forRun: Held?
        weak var forCancel: Held?
        var cancelled: Timer?
        do {
            let (one, other) = (Held(), Held())
            (forRun, forCancel) = (one, other)
            _ = queue.add(at: start) { _ = one }
            cancelled = queue.add(at: start) { _ = other }
        }
        #expect(forRun != nil && forCancel != nil)
        cancelled?.cancel()
        while queue.runNext(dueAt: start) {}
        #expect(forRun == nil && forCancel == nil)
    }

    /// An owner that only its timer's action keeps alive, and that calls the timer off at its end.
    @LoopActor private final class Owner {
        var timer: Timer?
        let ended: @LoopActor () -> Void
        init(ended: @escaping @LoopActor () -> Void) { self.ended = ended }
        isolated deinit {
            timer?.cancel()
            ended()
        }
    }

    @Test func `cancelling can end an owner that cancels the timer again`() {
        var ends = 0
        weak var owner: Owner?
        do {
            let new = Owner { ends += 1 }
            new.timer = queue.add(at: start) { _ = new }
            owner = new
        }
        owner?.timer?.cancel()
        #expect(ends == 1)
        #expect(queue.nextDeadline == nil)
    }
}
