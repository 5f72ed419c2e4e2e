// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import Fuzzing
import TestKit
import Testing

/// Messages that are damaged by chance on their way to a connection, hundreds of connections.
@Suite @LoopActor struct DamagedMessageTests {
    /// Sends each of so many connections what a closure makes of random numbers.
    private func attack(
        _ count: Int,
        seed: UInt64,
        _ make: (inout SplitMix64, BusVictim) -> [UInt8]
    ) async throws {
        let bus = try FakeBus()
        for index in 0..<count {
            var random = SplitMix64(seed: seed &+ UInt64(index))
            do {
                let victim = try await BusVictim(on: bus)
                let bytes = make(&random, victim)
                victim.peer.send(bytes)
                // Whoever can tell where the next message begins has to answer that or to end.
                if FakeBusPeer.size(of: bytes) == bytes.count {
                    try await victim.expectAnswer(orEnd: true)
                }
                victim.peer.endSending()
                try await victim.expectEnd()
            } catch {
                Issue.record("seed \(seed), connection \(index): \(error)")
                return
            }
        }
    }

    /// Messages that the connection handles if they are whole.
    private func messages(for victim: BusVictim) -> [WireMessage] {
        let table: [UInt8] =
            [19, 0, 0, 0, 0, 0, 0, 0] + WireMessage.text("a") + [1, 0x73, 0, 0, 0, 0]
            + WireMessage.text("bc")
        let names = WireMessage.text("org.example.Bell") + [0, 0, 0] + WireMessage.text("Tone")
        let properties = "org.freedesktop.DBus.Properties"
        return [
            .call("Ring"),
            .call("Play", "v", [1, 0x75, 0, 0, 7, 0, 0, 0]),
            .call("Get", on: properties, "ss", names),
            .call("Set", on: properties, "ssv", names + [1, 0x76, 0, 1, 0x79, 0, 9]),
            .call("GetAll", on: properties, "s", WireMessage.text("")),
            .call("Introspect", on: "org.freedesktop.DBus.Introspectable"),
            .call("Ping", on: "org.freedesktop.DBus.Peer"),
            .signal("sa{sv}", WireMessage.text("who") + table),
            .reply(to: victim.waitingSerial, "a{sv}", table),
        ]
    }

    private func message(for victim: BusVictim, _ random: inout SplitMix64) -> [UInt8] {
        random.pick(messages(for: victim)).bytes
    }

    @Test func `all goes well while nothing is damaged`() async throws {
        let victim = try await BusVictim(on: try FakeBus())
        for message in messages(for: victim) {
            victim.peer.send(message.bytes)
            try await victim.expectAnswer()
        }
        #expect(try await victim.waiting.value == ["a": "bc"])
    }

    @Test(arguments: [31, 32] as [UInt64])
    func `messages with bits turned over`(seed: UInt64) async throws {
        try await attack(200, seed: seed) { random, victim in
            var bytes = message(for: victim, &random)
            for _ in 0..<1 + random.below(3) {
                bytes[random.below(bytes.count)] ^= 1 << UInt8(random.below(8))
            }
            return bytes
        }
    }

    @Test func `messages with bytes added, taken, and lengths changed`() async throws {
        try await attack(200, seed: 41) { random, victim in
            var generator = MessageGenerator(seed: random.next())
            var (bytes, map) = generator.message(size: 10)
            if random.oneIn(2) {
                bytes = message(for: victim, &random)
                map = WireMap(of: bytes)
            }
            let other = message(for: victim, &random)
            var mutator = Mutator(random)
            mutator.changeStructure(&bytes, map, other: other)
            return bytes
        }
    }

    @Test func `messages of any types that are whole`() async throws {
        try await attack(100, seed: 51) { random, _ in
            var generator = MessageGenerator(seed: random.next())
            return generator.message(size: 30).bytes
        }
    }

    @Test func `bytes by chance`() async throws {
        try await attack(100, seed: 61) { random, _ in
            (0..<random.below(500)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        }
    }

    @Test func `bytes by chance behind a header`() async throws {
        try await attack(100, seed: 71) { random, _ in
            var message = WireMessage.call("Play", "v")
            message.body = (0..<1 + random.below(60)).map { _ in
                UInt8(truncatingIfNeeded: random.next())
            }
            return message.bytes
        }
    }
}
