// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import Fuzzing
import Glibc
import TestKit
import Testing

/// What can go wrong between the loss of a bus and the moment when all is as before.
@Suite @LoopActor struct ReconnectRegressionTests {
    private static let interface: InterfaceName = "org.example.Bell"
    private static let rung = Signal<UInt32>("Rung", of: interface, arguments: ["times"])

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

    @Test func `a connection that holds signals back returns, and goes on`() async throws {
        let bus = try await PrivateBus.start()
        let client = try await Connection.open(.address(bus.address), whenLost: .reconnect)
        let service = try await Connection.open(.address(bus.address), whenLost: .reconnect)
        let (back, away) = (Mailbox<Void>(), Mailbox<Void>())
        client.onReconnect = { back.append(()) }
        client.onDisconnect = { away.append(()) }
        let serviceBack = Mailbox<Void>()
        service.onReconnect = { serviceBack.append(()) }
        try await service.requestName("org.example.Bell")
        let one = try client.signals(
            Self.rung,
            from: "/",
            of: "org.example.Bell",
            buffering: .holdingBack(2)
        )
        let two = try client.signals(
            Self.rung,
            from: "/",
            of: "org.example.Bell",
            buffering: .holdingBack(2)
        )
        _ = try await client.owner(of: client.uniqueName)
        for times in UInt32(0)..<10 { try service.emit(Self.rung, from: "/", times) }
        _ = try await service.owner(of: service.uniqueName)
        _ = try await client.owner(of: client.uniqueName)
        bus.process.signal(SIGKILL)
        _ = try await bus.process.waitForExit()
        try await bus.restart()
        try await serviceBack.next()
        let taking = LoopActor.task {
            var count = 0
            for try await _ in one { count += 1; if count == 20 { break } }
        }
        let taking2 = LoopActor.task {
            var count = 0
            for try await _ in two { count += 1; if count == 20 { break } }
        }
        try await away.next()
        try await back.next()
        for times in UInt32(0)..<10 { try service.emit(Self.rung, from: "/", times) }
        _ = await taking.result
        _ = await taking2.result
    }
}
