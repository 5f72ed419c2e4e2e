// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import Fuzzing
import TestKit
import Testing

/// A bus that sends what no bus should: the connection answers, ignores it, or ends and says so.
@Suite @LoopActor struct HostileBusTests {
    private nonisolated static let welcomes = [
        "", "\r\n", "OK\r\n", "OK no digits\r\n", "DATA zz\r\n", "DATA\r\n", "ERROR\r\n",
        "REJECTED\r\n", "REJECTED EXTERNAL DBUS_COOKIE_SHA1 ANONYMOUS\r\n", "AGREE_UNIX_FD\r\n",
        "BEGIN\r\n", "OK 0123456789abcdef0123456789abcdef", "\u{1}\u{2}ä\r\n",
        String(repeating: "x", count: 40_000),
    ]

    @Test(arguments: welcomes.indices)
    func `a bus that does not let a connection in as it should is an error`(
        index: Int
    ) async throws {
        let welcome = Self.welcomes[index]
        let bus = try FakeBus(FakeBus.Manners(answerLine: { _ in welcome }))
        let opening = LoopActor.task { try await Connection.open(.address(bus.address)) }
        try await bus.peers.next().endSending()
        await #expect(throws: DBusError.self) { try await opening.value }
    }

    @Test(arguments: HostileMessage.greetings)
    func `a bus that does not give a name as it should is an error`(
        greeting: HostileMessage
    ) async throws {
        let manners = FakeBus.Manners(answerHello: { _ in greeting.bytes }, endsAfterHello: true)
        let bus = try FakeBus(manners)
        await #expect(throws: DBusError.self) { try await Connection.open(.address(bus.address)) }
    }

    @Test func `an owner whose name is none is an error`() async throws {
        let victim = try await BusVictim(on: try FakeBus())
        for text in ["", "no name", ":1. 2"] {
            let asking = LoopActor.task { try await victim.connection.owner(of: "org.example.X") }
            let call = try await victim.peer.messages.next() ?? []
            let serial = call[8..<12].reversed().reduce(0) { $0 << 8 | UInt32($1) }
            victim.peer.send(WireMessage.reply(to: serial, "s", WireMessage.text(text)).bytes)
            await #expect(throws: DBusError.self) { try await asking.value }
        }
        try await victim.expectAnswer()
    }

    @Test(arguments: HostileMessage.malformed)
    func `what is no message ends the connection, and that is told once`(
        message: HostileMessage
    ) async throws {
        let bus = try FakeBus()
        let victim = try await BusVictim(on: bus)
        victim.peer.send(message.bytes)
        // What is wrong must be seen by itself, unless it is that something lacks.
        if let size = FakeBusPeer.size(of: message.bytes), size != message.bytes.count {
            victim.peer.endSending()
        }
        try await victim.expectEnd()
    }

    @Test(arguments: HostileMessage.odd)
    func `what nobody expects is answered or ignored`(message: HostileMessage) async throws {
        let bus = try FakeBus()
        let victim = try await BusVictim(on: bus)
        victim.peer.send(message.bytes)
        try await victim.expectAnswer()
        victim.peer.endSending()
        try await victim.expectEnd()
    }

    @Test func `a message may end anywhere`() async throws {
        let bus = try FakeBus()
        let message = WireMessage.call("Play", "v", [1, 0x75, 0, 0, 7, 0, 0, 0]).bytes
        for count in 0..<message.count {
            let victim = try await BusVictim(on: bus)
            victim.peer.send(Array(message[..<count]))
            victim.peer.endSending()
            try await victim.expectEnd()
        }
    }

    @Test func `a message may come byte by byte`() async throws {
        let bus = try FakeBus()
        let victim = try await BusVictim(on: bus)
        for byte in WireMessage.call("Play", "v", [1, 0x75, 0, 0, 7, 0, 0, 0]).bytes {
            victim.peer.send([byte])
            // One turn of the loop, in which the connection reads it.
            try await SystemTimekeeper.shared.sleep(for: .zero)
        }
        try await victim.expectAnswer()
    }

    @Test func `messages in the other order of bytes are read`() async throws {
        let bus = try FakeBus()
        let victim = try await BusVictim(on: bus)
        for message in [
            WireMessage.call("Play", "v", [1, 0x75, 0, 0, 7, 0, 0, 0]).bytes,
            WireMessage.signal("s", WireMessage.text("who")).bytes,
            WireMessage.reply(to: victim.waitingSerial, "a{sv}", [0, 0, 0, 0, 0, 0, 0, 0]).bytes,
        ] {
            victim.peer.send(WireMap(of: message).swapped(message))
        }
        try await victim.expectAnswer()
    }
}

extension HostileMessage {
    /// Answers to a `Hello` of the number 1.
    fileprivate static let greetings: [HostileMessage] = [
        HostileMessage("nothing", WireMessage.reply(to: 1)),
        HostileMessage("a number", WireMessage.reply(to: 1, "u", [1, 0, 0, 0])),
        HostileMessage(
            "two names",
            WireMessage.reply(
                to: 1,
                "ss",
                WireMessage.text(":1.1") + [0, 0, 0] + WireMessage.text(":1.2")
            )
        ),
        HostileMessage("to another", WireMessage.reply(to: 7, "s", WireMessage.text(":1.1"))),
        HostileMessage("a call", WireMessage.call("Ring")),
        HostileMessage("a signal", WireMessage.signal()),
        HostileMessage(
            "an error",
            WireMessage(type: 3, fields: [.replySerial(1), .errorName("org.example.No")])
        ),
        HostileMessage("no message", WireMessage(type: 0)),
        HostileMessage("silence", []),
        HostileMessage("no name", WireMessage.reply(to: 1, "s", WireMessage.text("no name"))),
        HostileMessage("an empty name", WireMessage.reply(to: 1, "s", WireMessage.text(""))),
        HostileMessage(
            "a name that others can have too",
            WireMessage.reply(to: 1, "s", WireMessage.text("org.example.Bell"))
        ),
    ]
}
