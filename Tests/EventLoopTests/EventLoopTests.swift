// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import Testing

/// The loop runs on a thread of its own while tests run on Swift Testing's.
@Suite struct EventLoopTests {
    @Test @LoopActor func `tasks and work begin in the order in which they were added`() async {
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

    @Test @LoopActor func `work that blocks runs on a thread of its own`() async throws {
        struct Refusal: Error {}
        let own = UInt(pthread_self())
        let other = try await runBlocking { UInt(pthread_self()) }
        #expect(other != own)
        #expect(UInt(pthread_self()) == own)
        await #expect(throws: Refusal.self) { try await runBlocking { throw Refusal() } }
    }
}
