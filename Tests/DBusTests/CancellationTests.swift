// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import Glibc
import TestKit
import Testing

/// Tasks that give up waiting, and handlers whose connections end.
@Suite @LoopActor struct CancellationTests {
    /// Lets a task that was just started get to where it waits.
    private func turns() async throws {
        for _ in 0..<4 { try await SystemTimekeeper.shared.sleep(for: .microseconds(1)) }
    }

    @Test func `closing a connection cancels the handlers that wait on it`() async throws {
        let bus = try await PrivateBus.start()
        let (service, client) = (try await bus.connect(), try await bus.connect())
        let (begun, ended) = (Mailbox<Void>(), Mailbox<Void>())
        service.export(
            [
                Interface(
                    "org.example.Bell",
                    [
                        .asyncMethod("Wait") { _ in
                            begun.append(())
                            try? await SystemTimekeeper.shared.sleep(for: .seconds(60))
                            ended.append(())
                        }
                    ]
                )
            ],
            at: "/"
        )
        let call = LoopActor.task {
            try await client.call("Wait", on: "org.example.Bell", at: "/", of: service.uniqueName)
        }
        try await begun.next()
        try await turns()
        service.close()
        try await ended.next()
        await #expect(throws: DBusError.self) { try await call.value }
    }

    @Test func `who waits for a flush, an answer or the end can give up`() async throws {
        let bus = try await PrivateBus.start()
        let connection = try await bus.connect()
        bus.process.signal(SIGSTOP)
        let said = Signal<String>("Said", of: "org.example.Said", arguments: ["what"])
        for _ in 0..<20 {
            try connection.emit(said, from: "/", String(repeating: "x", count: 100_000))
        }
        let subscription = try connection.subscribe(to: SignalMatch(path: "/a")) { _ in }
        let waits = [
            LoopActor.task { try await connection.flush() },
            LoopActor.task { try await subscription.established() },
        ]
        let end = LoopActor.task { await connection.waitForEnd() }
        try await turns()
        for wait in waits { wait.cancel() }
        end.cancel()
        for wait in waits {
            await #expect(throws: CancellationError.self) { try await wait.value }
        }
        try await end.value
        #expect(connection.isOpen)
        bus.process.signal(SIGCONT)
        try await connection.flush()
        try await subscription.established()
        let cancelled = LoopActor.task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await connection.flush()
        }
        // Nothing waits to be written: there is nothing to give up.
        try await cancelled.value
    }

    @Test func `signals of a name are refused if its owners are not told`() async throws {
        let bus = try await PrivateBus.start(limits: ["max_match_rules_per_connection": 1])
        let client = try await bus.connect()
        let said = Signal<String>("Said", of: "org.example.Said", arguments: ["what"])
        let subscription = try client.subscribe(to: said, from: "/", of: "org.example.Said") { _ in
        }
        await #expect {
            try await subscription.established()
        } throws: {
            ($0 as? DBusError)?.name == .limitsExceeded
        }
    }

    @Test func `of values beyond measure none is read, and their types can be`() async throws {
        let bus = try await PrivateBus.start()
        let (service, client) = (try await bus.connect(), try await bus.connect())
        let bytes = [UInt8](repeating: 7, count: 5_000_000)
        service.export(
            [Interface("org.example.Said", [.method("Read", out: ["bytes"]) { _ in bytes }])],
            at: "/"
        )
        let reply = try await client.call(
            "Read",
            on: "org.example.Said",
            at: "/",
            of: service.uniqueName
        )
        #expect {
            try reply.values()
        } throws: {
            ($0 as? DBusError)?.name == .limitsExceeded
        }
        #expect(try reply.results([UInt8].self) == bytes)
    }
}
