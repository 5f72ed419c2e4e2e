// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import Fuzzing
import TestKit
import Testing

/// Random messages of all types that there are, through a real bus and back, compared bit by bit.
@Suite @LoopActor struct RoundTripTests {
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `whatever one connection sends another one reads and returns`(
        seed: UInt64
    ) async throws {
        let bus = try await PrivateBus.start()
        let (service, client) = (try await bus.connect(), try await bus.connect())
        DynamicEcho.export(on: service)
        await DynamicEcho.exchange(
            1000,
            ValueGenerator(seed: seed),
            seed: seed,
            with: service.uniqueName,
            from: client
        )
        #expect(client.isOpen && service.isOpen)
    }

    @Test func `what is compared is every bit`() {
        let other = Double(nan: 1, signaling: false)
        let pairs: [(Value, Value)] = [
            (0.0, -0.0), ("é", "e\u{301}"), (.double(.nan), .double(other)),
        ]
        for (left, right) in pairs {
            #expect(left.isIdentical(to: left) && !left.isIdentical(to: right))
            #expect(
                ![.structure([.variant(left)])].isIdentical(to: [.structure([.variant(right)])])
            )
        }
        let (none, nothing) = (Value.array(of: "s", []), Value.array(of: "u", []))
        #expect(none.isIdentical(to: none) && !none.isIdentical(to: nothing))
    }
}
