// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import TestKit
import Testing

/// Signals that are taken one by one, and what becomes of those that come faster.
@Suite @LoopActor struct SignalSequenceTests {
    private static let interface: InterfaceName = "org.example.Bell"
    private static let rung = Signal<UInt32, String>(
        "Rung",
        of: interface,
        arguments: ["times", "by"]
    )

    @LoopActor private struct Pair {
        let bus: PrivateBus
        let service: Connection
        let client: Connection

        init() async throws {
            bus = try await PrivateBus.start()
            service = try await bus.connect()
            client = try await bus.connect()
        }

        func sequence(_ buffering: SignalBuffering) throws -> SignalSequence<(UInt32, String)> {
            try client.signals(
                SignalSequenceTests.rung,
                from: "/",
                of: service.uniqueName,
                buffering: buffering
            )
        }

        func ring(_ times: Range<UInt32>, by: String = "hand") throws {
            for time in times { try service.emit(SignalSequenceTests.rung, from: "/", time, by) }
        }

        /// Comes back when all that the service has sent before has reached the client.
        func settle() async throws {
            _ = try await service.owner(of: service.uniqueName)
            _ = try await client.owner(of: client.uniqueName)
        }
    }

    @Test func `signals are taken in order, with their types and senders`() async throws {
        let pair = try await Pair()
        let typed = try pair.sequence(.holdingBack(4))
        let untyped = try pair.client.signals(matching: SignalMatch(member: "Rung"))
        try pair.ring(0..<3)
        try pair.service.emit(
            Signal<String>("Rung", of: Self.interface, arguments: ["x"]),
            from: "/",
            ""
        )
        try pair.ring(3..<5)
        var next: UInt32 = 0
        for try await (times, by) in typed {
            #expect(times == next && by == "hand")
            next += 1
            if next == 5 { break }
        }
        let iterator = untyped.makeAsyncIterator()
        let first = try #require(try await iterator.next())
        #expect(first.sender == pair.service.uniqueName && first.path == "/")
        #expect(first.interface == Self.interface && first.member == "Rung")
        #expect(try first.values() == [.uint32(0), "hand"])
        let (times, by) = try first.arguments(UInt32.self, String.self)
        #expect(times == 0 && by == "hand")
    }

    @Test func `who is slow loses nothing, and the bus holds the rest`() async throws {
        let pair = try await Pair()
        let sequence = try pair.sequence(.holdingBack(16))
        try await pair.settle()
        let count: UInt32 = 10_000
        // Far more than the sockets between take, so most of it waits in the bus.
        let text = String(repeating: "x", count: 500)
        for start in stride(from: 0, to: count, by: 1000) {
            try pair.ring(start..<start + 1000, by: text)
            try await pair.service.flush()
        }
        let stats = try await pair.service.call(
            "GetConnectionStats",
            on: "org.freedesktop.DBus.Debug.Stats",
            at: "/org/freedesktop/DBus",
            of: "org.freedesktop.DBus",
            pair.client.uniqueName.string
        )
        let waiting = try stats.results([String: Value].self)["OutgoingBytes"]?.integer
        #expect(try #require(waiting) > 3 << 20)
        var next: UInt32 = 0
        for try await (times, _) in sequence {
            #expect(times == next)
            next += 1
            if next == count { break }
            // Others have their turn, as they would with any slow consumer.
            if next % 500 == 0 { try await SystemTimekeeper.shared.sleep(for: .milliseconds(1)) }
        }
        #expect(next == count)
    }

    @Test func `while signals are held back, calls are still answered`() async throws {
        let pair = try await Pair()
        let sequence = try pair.sequence(.holdingBack(2))
        try pair.ring(0..<100)
        try await pair.settle()
        var next: UInt32 = 0
        for try await (times, _) in sequence {
            #expect(times == next)
            next += 1
            #expect(try await pair.client.owner(of: pair.service.uniqueName) != nil)
            if next == 100 { break }
        }
    }

    @Test func `letting go of a sequence that holds back lets the others go on`() async throws {
        let pair = try await Pair()
        let heard = Mailbox<UInt32>()
        let subscription = try pair.client.subscribe(
            to: Self.rung,
            from: "/",
            of: pair.service.uniqueName
        ) { times, _ in heard.append(times) }
        var sequence: SignalSequence? = try pair.sequence(.holdingBack(1))
        try await pair.settle()
        try pair.ring(0..<50)
        #expect(try await heard.next() == 0)
        _ = try await pair.service.owner(of: pair.service.uniqueName)
        withExtendedLifetime(sequence) {}
        sequence = nil
        for times in UInt32(1)..<50 { #expect(try await heard.next() == times) }
        subscription.cancel()
    }

    @Test func `of states only the newest are kept`() async throws {
        let pair = try await Pair()
        let sequence = try pair.sequence(.newest(3))
        try pair.ring(0..<100)
        try await pair.settle()
        let iterator = sequence.makeAsyncIterator()
        for expected in UInt32(97)..<100 {
            #expect(try await iterator.next()?.0 == expected)
        }
    }

    @Test func `who may not lose any and is too slow is told`() async throws {
        let pair = try await Pair()
        let sequence = try pair.sequence(.failing(3))
        try pair.ring(0..<10)
        try await pair.settle()
        let iterator = sequence.makeAsyncIterator()
        for expected in UInt32(0)..<3 { #expect(try await iterator.next()?.0 == expected) }
        await #expect {
            _ = try await iterator.next()
        } throws: {
            ($0 as? DBusError)?.name == .limitsExceeded
        }
    }

    @Test func `a cancelled task stops waiting, and the sequence can be taken up again`()
        async throws
    {
        let pair = try await Pair()
        let sequence = try pair.sequence(.holdingBack(8))
        let waiting = LoopActor.task { try await sequence.makeAsyncIterator().next()?.0 }
        try await pair.settle()
        waiting.cancel()
        #expect(try await waiting.value == nil)
        try pair.ring(5..<6)
        #expect(try await sequence.makeAsyncIterator().next()?.0 == 5)
    }

    @Test func `a sequence ends with its connection, after what has come`() async throws {
        let pair = try await Pair()
        let sequence = try pair.sequence(.holdingBack(8))
        try pair.ring(0..<2)
        try await pair.settle()
        pair.client.close()
        var taken: [UInt32] = []
        for try await (times, _) in sequence { taken.append(times) }
        #expect(taken == [0, 1])
        #expect(throws: DBusError.self) { try pair.sequence(.newest(1)) }
    }
}
