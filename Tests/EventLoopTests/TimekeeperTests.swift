// SPDX-License-Identifier: Apache-2.0

import EventLoop
import TestKit
import Testing

@Suite @LoopActor struct TimekeeperTests {
    private let time = ManualTimekeeper()

    private func sleeper(_ duration: Duration) -> Task<Void, any Error> {
        LoopActor.task { [time] in try await time.sleep(for: duration) }
    }

    @Test func `a sleep ends when its time has come and not before`() async throws {
        var isAwake = false
        let task = LoopActor.task { [time] in
            try await time.sleep(for: .seconds(10))
            isAwake = true
        }
        try await eventually("the sleep's begin") { time.isAwaited }
        time.advance(by: .seconds(9))
        #expect(!isAwake && time.isAwaited)
        time.advance(by: .seconds(1))
        try await task.value
        #expect(isAwake && !time.isAwaited)
    }

    @Test func `no time at all is no sleep`() async throws {
        try await time.sleep(for: .zero)
        try await time.sleep(for: .seconds(-1))
        #expect(!time.isAwaited)
    }

    @Test func `a cancelled sleep ends at once and leaves no timer`() async throws {
        let task = sleeper(.seconds(10))
        try await eventually("the sleep's begin") { time.isAwaited }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!time.isAwaited)
        time.advance(by: .seconds(20))
    }

    @Test func `a task that was cancelled before does not sleep`() async throws {
        let task = sleeper(.seconds(10))
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!time.isAwaited)
    }

    @Test func `cancelled from another thread while it begins, it ends exactly once`() async throws
    {
        // Each run meets another moment of the sleep's begin.
        for _ in 0..<500 {
            let task = sleeper(.seconds(10))
            try await runBlocking { task.cancel() }
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        #expect(!time.isAwaited)
    }

    @Test func `when time is up and the task is cancelled, what came first counts`() async throws {
        let task = sleeper(.seconds(10))
        try await eventually("the sleep's begin") { time.isAwaited }
        time.advance(by: .seconds(10))
        task.cancel()
        try await task.value
    }

    @Test func `a real sleep takes its time`() async throws {
        let start = ContinuousClock.now
        try await SystemTimekeeper.shared.sleep(for: .milliseconds(15))
        #expect(start.duration(to: .now) >= .milliseconds(15))
    }

    @Test func `moving the clock stops at each timer on the way`() {
        let start = time.now
        let civil = time.microsecondsSinceEpoch
        var seen: [Duration] = []
        _ = time.schedule(after: .seconds(2)) { seen.append(start.duration(to: time.now)) }
        _ = time.schedule(after: .seconds(1)) {
            seen.append(start.duration(to: time.now))
            // Due within the same move, but later.
            _ = time.schedule(after: .milliseconds(500)) {
                seen.append(start.duration(to: time.now))
            }
        }
        let cancelled = time.schedule(after: .seconds(2)) { seen.append(.zero) }
        cancelled.cancel()
        time.advance(by: .seconds(3))
        #expect(seen == [.seconds(1), .milliseconds(1500), .seconds(2)])
        #expect(start.duration(to: time.now) == .seconds(3))
        #expect(time.microsecondsSinceEpoch - civil == 3_000_000)
    }
}
