// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import Testing

/// The loop runs on a thread of its own while tests run on Swift Testing's.
@Suite struct EventLoopTests {
    @Test @LoopActor func `an immediate task begins before its creator goes on`() async {
        var order: [Int] = []
        let task = Task.immediate { @LoopActor in
            order.append(1)
            try? await SystemTimekeeper.shared.sleep(for: .milliseconds(1))
            order.append(3)
        }
        order.append(2)
        await task.value
        #expect(order == [1, 2, 3])
    }

    @Test @LoopActor func `from a plain callback an immediate task begins at once, too`() async {
        let order = await withCheckedContinuation { continuation in
            EventLoop.shared.perform {
                var order: [Int] = []
                Task.immediate { @LoopActor in order.append(1) }
                order.append(2)
                continuation.resume(returning: order)
            }
        }
        #expect(order == [1, 2])
    }
}
