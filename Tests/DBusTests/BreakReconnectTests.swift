// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import Fuzzing
import Glibc
import TestKit
import Testing

/// What can go wrong between the loss of a bus and the moment when all is as before.
@Suite @LoopActor struct BreakReconnectTests {
    private static let interface: InterfaceName = "org.example.Bell"

    @Test func `a bus that refuses at first is asked again`() async throws {
        let bus = try await PrivateBus.start()
        let connection = try await Connection.open(.address(bus.address), whenLost: .reconnect)
        let events = Mailbox<String>()
        connection.onDisconnect = { events.append("lost") }
        connection.onReconnect = { events.append("back") }
        try await connection.requestName("org.example.Bell")
        bus.process.signal(SIGKILL)
        #expect(try await events.next() == "lost")
        let file = "\(bus.folder.path)/bus.conf"
        let forbidding = try ChildProcess(
            "sed",
            ["-i", "s/<allow own=\"\\*\"\\/>/<deny own=\"*\"\\/>/", file]
        )
        try await forbidding.waitForExit()
        try await bus.restart()
        #expect(try await events.next("the return") == "back")
        #expect(try await connection.owner(of: "org.example.Bell") == nil)
    }

    @Test func `a rule that is wished for during the return is there once`() async throws {
        let bus = try FakeBus()
        let connection = try await Connection.open(.address(bus.address), whenLost: .reconnect)
        let (lost, back) = (Mailbox<Void>(), Mailbox<Void>())
        connection.onDisconnect = { lost.append(()) }
        connection.onReconnect = { back.append(()) }
        do {
            let first = try await bus.peers.next()
            first.endSending()
        }
        try await lost.next()
        let second = try await bus.peers.next()
        // It is connected and waits for its name.
        try await eventually("the connection") { connection.isOpen }
        let subscription = try connection.subscribe(to: SignalMatch(member: "Rung")) { _ in }
        try await back.next()
        LoopActor.task { try await connection.startService("org.example.End") }
        var rules = 0
        while let bytes = try await second.messages.next() {
            guard let message = Message.demarshalled(bytes) else { continue }
            if message.member == "AddMatch" { rules += 1 }
            if message.member == "StartServiceByName" { break }
        }
        #expect(rules == 1)
        subscription.cancel()
        connection.close()
    }

    @Test func `a name that is given back during the return stays given back`() async throws {
        let bus = try await PrivateBus.start()
        let connection = try await Connection.open(.address(bus.address), whenLost: .reconnect)
        let (lost, back) = (Mailbox<Void>(), Mailbox<Void>())
        connection.onDisconnect = { lost.append(()) }
        connection.onReconnect = { back.append(()) }
        let names: [BusName] = ["org.example.A", "org.example.B", "org.example.C"]
        for name in names {
            try await connection.requestName(name) { isOwner in
                guard isOwner else { return }
                for other in names where other != name {
                    LoopActor.task { try await connection.releaseName(other) }
                }
            }
        }
        bus.process.signal(SIGKILL)
        try await lost.next()
        try await bus.restart()
        try await back.next()
        let witness = try await bus.connect()
        var owned = 0
        for name in names where try await witness.owner(of: name) != nil { owned += 1 }
        #expect(owned <= 1)
    }
}
