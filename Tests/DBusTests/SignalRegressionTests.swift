// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import Glibc
import TestKit
import Testing

/// Signals and rules that end, are refused or are cancelled while others go on.
@Suite @LoopActor struct SignalRegressionTests {
    private static let interface: InterfaceName = "org.example.Bell"
    private static let rung = Signal<UInt32>("Rung", of: interface, arguments: ["times"])
    private static let said = Signal<String>("Said", of: interface, arguments: ["what"])

    @LoopActor private struct Pair {
        let bus: PrivateBus
        let service: Connection
        let client: Connection

        init(limits: [String: Int] = [:]) async throws {
            bus = try await PrivateBus.start(limits: limits)
            service = try await bus.connect()
            client = try await bus.connect()
        }

        func sequence(
            _ buffering: SignalBuffering = .holdingBack(8)
        ) throws -> SignalSequence<UInt32> {
            try client.signals(
                SignalRegressionTests.rung,
                from: "/",
                of: service.uniqueName,
                buffering: buffering
            )
        }

        func rules() async throws -> [String] {
            _ = try await client.owner(of: client.uniqueName)
            let reply = try await service.call(
                "GetAllMatchRules",
                on: "org.freedesktop.DBus.Debug.Stats",
                at: "/org/freedesktop/DBus",
                of: "org.freedesktop.DBus"
            )
            return try reply.results([String: [String]].self)[client.uniqueName.string] ?? []
        }
    }

    @Test func `a cancelled task that looks for a signal does not end another's wait`()
        async throws
    {
        let pair = try await Pair()
        let sequence = try pair.sequence()
        let taken = Mailbox<UInt32?>()
        let waiting = LoopActor.task {
            taken.append(try await sequence.makeAsyncIterator().next())
        }
        _ = try await pair.client.owner(of: pair.service.uniqueName)
        let cancelled = LoopActor.task { try await sequence.makeAsyncIterator().next() }
        cancelled.cancel()
        #expect(try await cancelled.value == nil)
        _ = try await pair.client.owner(of: pair.service.uniqueName)
        try pair.service.emit(Self.rung, from: "/", 7)
        #expect(try await taken.next() == 7)
        _ = await waiting.result
    }

    @Test func `two tasks can wait for the same sequence`() async throws {
        let pair = try await Pair()
        let sequence = try pair.sequence()
        let taken = Mailbox<UInt32?>()
        for _ in 0..<2 {
            LoopActor.task { taken.append(try await sequence.makeAsyncIterator().next()) }
        }
        _ = try await pair.client.owner(of: pair.service.uniqueName)
        for times in [UInt32(1), 2] { try pair.service.emit(Self.rung, from: "/", times) }
        for times in [UInt32(1), 2] { #expect(try await taken.next() == times) }
    }

    @Test func `a signal that was taken is freed`() async throws {
        let pair = try await Pair()
        let sequence = try pair.client.signals(matching: SignalMatch(member: "Rung"))
        _ = try await pair.client.owner(of: pair.client.uniqueName)
        try pair.service.emit(Self.rung, from: "/", 1)
        try pair.service.emit(Self.rung, from: "/", 2)
        _ = try await pair.service.owner(of: pair.service.uniqueName)
        _ = try await pair.client.owner(of: pair.client.uniqueName)
        weak var taken: ReceivedSignal?
        do { taken = try await sequence.makeAsyncIterator().next() }
        try await eventually("the release") { taken == nil }
        withExtendedLifetime(sequence) {}
    }

    @Test func `who waits for a subscription that is cancelled is told`() async throws {
        let pair = try await Pair()
        let subscription = try pair.client.subscribe(to: SignalMatch(member: "Rung")) { _ in }
        let outcome = Mailbox<Bool>()
        LoopActor.task {
            do {
                try await subscription.established()
                outcome.append(true)
            } catch {
                outcome.append(false)
            }
        }
        EventLoop.shared.perform { subscription.cancel() }
        #expect(try await outcome.next() == false)
    }

    @Test func `a rule that was refused is asked for again by who wants it next`() async throws {
        let pair = try await Pair(limits: ["max_match_rules_per_connection": 1])
        let kept = try pair.client.subscribe(to: SignalMatch(path: "/a")) { _ in }
        try await kept.established()
        let match = SignalMatch(path: "/", member: "Rung")
        let refused = try pair.client.subscribe(to: match) { _ in }
        await #expect(throws: DBusError.self) { try await refused.established() }
        kept.cancel()
        let heard = Mailbox<Void>()
        let again = try pair.client.subscribe(to: match) { _ in heard.append(()) }
        try await again.established()
        try pair.service.emit(Self.rung, from: "/", 1)
        try await heard.next()
        withExtendedLifetime(refused) {}
    }

    @Test func `ends of peers are told though the rule was refused once`() async throws {
        let pair = try await Pair(limits: ["max_match_rules_per_connection": 1])
        let kept = try pair.client.subscribe(to: SignalMatch(path: "/a")) { _ in }
        try await kept.established()
        let ends = Mailbox<Void>()
        let first = try pair.client.watchPeer(pair.service.uniqueName) { ends.append(()) }
        _ = try await pair.client.owner(of: pair.client.uniqueName)
        kept.cancel()
        let second = try pair.client.watchPeer(pair.service.uniqueName) { ends.append(()) }
        _ = try await pair.client.owner(of: pair.client.uniqueName)
        pair.service.close()
        for _ in 0..<2 { try await ends.next() }
        withExtendedLifetime((first, second)) {}
    }

    @Test func `a rule is given back though much waits for the bus`() async throws {
        let pair = try await Pair()
        let subscription = try pair.client.subscribe(to: SignalMatch(member: "Rung")) { _ in }
        try await subscription.established()
        pair.client.limits.queuedSize = 1 << 20
        pair.bus.process.signal(SIGSTOP)
        #expect(throws: DBusError.self) {
            while true {
                try pair.client.emit(Self.said, from: "/", String(repeating: "x", count: 50_000))
            }
        }
        subscription.cancel()
        pair.bus.process.signal(SIGCONT)
        try await pair.client.flush()
        #expect(try await pair.rules().isEmpty)
    }

    @Test func `who keeps large answers still gets others`() async throws {
        let pair = try await Pair()
        // Three are more than libdbus would let a program keep. Bytes, which nobody on the way has
        // to look at.
        let bytes = [UInt8](repeating: 7, count: 22_500_000)
        pair.service.export(
            [Interface(Self.interface, [.method("Read", out: ["it"]) { _ in bytes }])],
            at: "/"
        )
        var kept: [Reply] = []
        for _ in 0..<3 {
            kept.append(
                try await pair.client.call(
                    "Read",
                    on: Self.interface,
                    at: "/",
                    of: pair.service.uniqueName,
                    timeout: .seconds(100)
                )
            )
        }
        #expect(kept.count == 3)
        _ = try await pair.client.owner(of: pair.client.uniqueName)
    }

    @Test func `a flush ends with the bus while signals are held back`() async throws {
        let pair = try await Pair()
        let sequence = try pair.sequence(.holdingBack(1))
        _ = try await pair.client.owner(of: pair.client.uniqueName)
        for times in UInt32(0)..<4 { try pair.service.emit(Self.rung, from: "/", times) }
        _ = try await pair.service.owner(of: pair.service.uniqueName)
        _ = try await pair.client.owner(of: pair.client.uniqueName)
        pair.bus.process.signal(SIGSTOP)
        for _ in 0..<20 {
            try pair.client.emit(Self.said, from: "/", String(repeating: "x", count: 100_000))
        }
        let ended = Mailbox<Void>()
        LoopActor.task {
            try? await pair.client.flush()
            ended.append(())
        }
        try await SystemTimekeeper.shared.sleep(for: .zero)
        pair.bus.process.signal(SIGKILL)
        try await ended.next()
        withExtendedLifetime(sequence) {}
    }
}
