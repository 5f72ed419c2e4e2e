// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import Synchronization
import TestKit
import Testing

/// The loop runs on a thread of its own while tests run on Swift Testing's.
@Suite @LoopActor struct EventLoopTests {
    @LoopActor private final class Log<Element: Sendable> {
        var entries: [Element] = []
        nonisolated init() {}
    }

    @Test func `tasks and work begin in the order in which they were added`() async {
        var order: [Int] = []
        await withCheckedContinuation { continuation in
            for number in 0..<100 where number.isMultiple(of: 2) {
                LoopActor.task { order.append(number) }
                EventLoop.shared.perform { order.append(number + 1) }
            }
            LoopActor.task { continuation.resume() }
        }
        #expect(order == Array(0..<100))
    }

    @Test func `a batch of many thousands keeps its order`() async {
        var order: [Int] = []
        await withCheckedContinuation { continuation in
            for number in 0..<100_000 { EventLoop.shared.perform { order.append(number) } }
            EventLoop.shared.perform { continuation.resume() }
        }
        #expect(order == Array(0..<100_000))
    }

    @Test func `jobs of other threads all arrive, each thread's in order`() async throws {
        let log = Log<(thread: Int, number: Int)>()
        let (threads, jobs) = (8, 2000)
        let producers = (0..<threads).map { thread in
            LoopActor.task {
                try await runBlocking {
                    for number in 0..<jobs {
                        Task { @LoopActor in log.entries.append((thread, number)) }
                    }
                }
            }
        }
        for producer in producers { try await producer.value }
        try await eventually("all jobs") { log.entries.count == threads * jobs }
        for thread in 0..<threads {
            let numbers = log.entries.filter { $0.thread == thread }.map(\.number)
            #expect(numbers == Array(0..<jobs))
        }
    }

    @Test func `a job of another thread wakes the sleeping loop each time`() async throws {
        // Each run lets the loop fall asleep at another moment of the hand-over.
        for round in 0..<300 {
            let answer = try await runBlocking {
                for _ in 0..<round { sched_yield() }
                return round
            }
            #expect(answer == round)
        }
    }

    @Test func `work that adds itself again starves neither descriptors nor timers`() async throws {
        let pair = try SocketPair()
        var (turns, arrived) = (0, Set<String>())
        let watch = DescriptorWatch(pair.near.number, for: .readable) { _ in
            drain(pair.near.number)
            arrived.insert("descriptor")
        }
        let timer = SystemTimekeeper.shared.schedule(after: .milliseconds(1)) {
            arrived.insert("timer")
        }
        poke(pair.far.number)
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            @LoopActor func again() {
                turns += 1
                // Without a limit a loop that starves would hang the test instead of failing it.
                guard arrived.count < 2, turns < 2_000_000 else { return continuation.resume() }
                EventLoop.shared.perform { again() }
            }
            again()
        }
        #expect(arrived.count == 2)
        watch.cancel()
        timer.cancel()
    }

    @Test func `a task that only yields starves neither descriptors nor timers`() async throws {
        let pair = try SocketPair()
        var arrived = Set<String>()
        let watch = DescriptorWatch(pair.near.number, for: .readable) { _ in
            drain(pair.near.number)
            arrived.insert("descriptor")
        }
        let timer = SystemTimekeeper.shared.schedule(after: .milliseconds(1)) {
            arrived.insert("timer")
        }
        poke(pair.far.number)
        let task = LoopActor.task {
            for _ in 0..<2_000_000 where arrived.count < 2 { await Task.yield() }
        }
        try await task.value
        #expect(arrived.count == 2)
        watch.cancel()
        timer.cancel()
    }

    @Test func `a timer that adds one for a time that has passed starves nobody`() async throws {
        let past = ContinuousClock.now
        var count = 0
        var countOfWork: Int?
        var countOfLaterTimer: Int?
        let done = Mailbox<Void>()
        @LoopActor func again() {
            count += 1
            guard count < 1000 else { return done.append(()) }
            if count == 1 { EventLoop.shared.perform { countOfWork = count } }
            _ = SystemTimekeeper.shared.schedule(at: past) { again() }
        }
        _ = SystemTimekeeper.shared.schedule(at: past) { again() }
        _ = SystemTimekeeper.shared.schedule(at: past.advanced(by: .nanoseconds(1))) {
            countOfLaterTimer = count
        }
        try await done.next()
        #expect(countOfWork.map { $0 < 1000 } == true)
        #expect(countOfLaterTimer.map { $0 < 1000 } == true)
    }

    @Test func `of timers that are due together, the first can call off the second`() async throws {
        var (ran, timers) = ([Int](), [Timer]())
        let done = Mailbox<Void>()
        let past = ContinuousClock.now
        timers = (0..<3).map { id in
            SystemTimekeeper.shared.schedule(at: past) {
                ran.append(id)
                timers[1].cancel()
                if id == 2 { done.append(()) }
            }
        }
        try await done.next()
        #expect(ran == [0, 2])
    }

    @Test func `a timer may be due at the end of time`() async throws {
        let timer = SystemTimekeeper.shared.schedule(after: .seconds(Int64.max / 2)) {}
        // The loop has set the kernel's timer for it, or for an earlier one, and goes on.
        try await SystemTimekeeper.shared.sleep(for: .milliseconds(1))
        timer.cancel()
    }

    @Test func `blocking work returns, throws, and leaves the loop free`() async throws {
        struct Refusal: Error {}
        let loopThread = UInt(pthread_self())
        let workThread = try await runBlocking { UInt(pthread_self()) }
        #expect(workThread != loopThread)
        await #expect(throws: Refusal.self) { try await runBlocking { throw Refusal() } }

        let mayEnd = Mutex(false)
        let work = LoopActor.task {
            try await runBlocking {
                while !mayEnd.withLock({ $0 }) { sched_yield() }
            }
        }
        // Only a free loop gets as far as this.
        try await SystemTimekeeper.shared.sleep(for: .milliseconds(1))
        mayEnd.withLock { $0 = true }
        try await work.value
        #expect(UInt(pthread_self()) == loopThread)
    }

    @Test func `signals arrive on the loop until the watch is let go of`() async throws {
        // Blocked in the loop's thread alone and sent to that thread alone: the process's other
        // threads, which are not the test's, never see them.
        SignalWatch.block([SIGUSR1, SIGUSR2])
        let signals = Mailbox<CInt>()
        var watch: SignalWatch?
        watch = try SignalWatch([SIGUSR1, SIGUSR2]) { signal in
            signals.append(signal)
            // The watch may be let go of by its own handler.
            if signal == SIGUSR2 { watch = nil }
        }
        pthread_kill(pthread_self(), SIGUSR1)
        #expect(try await signals.next() == SIGUSR1)
        pthread_kill(pthread_self(), SIGUSR2)
        #expect(try await signals.next() == SIGUSR2)
        #expect(watch == nil)
        pthread_kill(pthread_self(), SIGUSR1)
        try await SystemTimekeeper.shared.sleep(for: .milliseconds(1))
        #expect(signals.contents.isEmpty)
    }
}
