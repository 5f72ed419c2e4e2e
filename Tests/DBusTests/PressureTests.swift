// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import Glibc
import TestKit
import Testing

/// Buses and peers that do not read: nothing of this side may wait for them or grow without end.
@Suite @LoopActor struct PressureTests {
    private static let said = Signal<String>("Said", of: "org.example.Said", arguments: ["what"])

    @Test func `what waits for a bus that has stopped is bounded, and leaves when it goes on`()
        async throws
    {
        let bus = try await PrivateBus.start()
        let (sender, listener) = (try await bus.connect(), try await bus.connect())
        let heard = Mailbox<String>()
        let subscription = try listener.subscribe(
            to: Self.said,
            from: "/",
            of: sender.uniqueName
        ) { heard.append($0) }
        try await subscription.established()
        sender.limits.queuedSize = 4 << 20
        bus.process.signal(SIGSTOP)
        let text = String(repeating: "x", count: 100_000)
        var sent = 0
        #expect {
            while sent < 1000 {
                try sender.emit(Self.said, from: "/", "\(sent) \(text)")
                sent += 1
            }
        } throws: {
            ($0 as? DBusError)?.name == .limitsExceeded
        }
        #expect(sent > 40 && sent < 60)
        #expect(sender.queuedSize > 4 << 20)
        let call = LoopActor.task { try await sender.owner(of: listener.uniqueName) }
        await #expect {
            _ = try await call.value
        } throws: {
            ($0 as? DBusError)?.name == .limitsExceeded
        }
        let flush = LoopActor.task { try await sender.flush() }
        bus.process.signal(SIGCONT)
        try await flush.value
        #expect(sender.queuedSize == 0)
        for index in 0..<sent {
            #expect(try await heard.next().hasPrefix("\(index) x"))
        }
        try await sender.flush()
    }

    @Test func `a flush ends when the bus does`() async throws {
        let bus = try await PrivateBus.start()
        let sender = try await bus.connect()
        bus.process.signal(SIGSTOP)
        for _ in 0..<20 {
            try sender.emit(Self.said, from: "/", String(repeating: "x", count: 100_000))
        }
        let flush = LoopActor.task { try await sender.flush() }
        bus.process.signal(SIGKILL)
        await #expect(throws: DBusError.self) { try await flush.value }
        await #expect(throws: DBusError.self) { try await sender.flush() }
    }

    @Test(.enabled(if: isInstalled("gdbus"), "gdbus is not installed (libglib2.0-bin)"))
    func `a peer that has stopped holds up nobody else`() async throws {
        let bus = try await PrivateBus.start(limits: ["max_outgoing_bytes": 200_000])
        let (service, client) = (try await bus.connect(), try await bus.connect())
        let monitor = try ChildProcess(
            "gdbus",
            ["monitor", "--address", bus.address, "--dest", service.uniqueName.string]
        )
        try await monitor.line(containing: "Monitoring signals")
        let names = try await client.call(
            "ListNames",
            on: "org.freedesktop.DBus",
            at: "/org/freedesktop/DBus",
            of: "org.freedesktop.DBus"
        ).results([String].self)
        let others = [service.uniqueName.string, client.uniqueName.string, "org.freedesktop.DBus"]
        let stopped = try #require(names.first { !others.contains($0) })
        let peer = BusName(unchecked: stopped)
        service.export(
            [
                Interface(
                    "org.example.Said",
                    [
                        .method("Repeat", in: ["what"], out: ["what"]) {
                            (_, what: String) in what
                        }
                    ]
                )
            ],
            at: "/"
        )
        monitor.signal(SIGSTOP)
        let text = String(repeating: "x", count: 1000)
        // The bus keeps 200,000 bytes for the peer, and drops the rest.
        for index in 0..<20_000 {
            try service.emit(Self.said, from: "/", to: peer, text)
            if index % 500 == 0 { try await service.flush() }
        }
        let answer = try await client.call(
            "Repeat",
            on: "org.example.Said",
            at: "/",
            of: service.uniqueName,
            "still here"
        )
        #expect(try answer.results(String.self) == "still here")
        await #expect {
            try await service.call(
                "Ping",
                on: "org.freedesktop.DBus.Peer",
                at: "/",
                of: peer,
                timeout: .milliseconds(50)
            )
        } throws: {
            let name = ($0 as? DBusError)?.name
            return name == .noReply || name == .limitsExceeded
        }
        try await service.flush()
        monitor.signal(SIGKILL)
    }
}
