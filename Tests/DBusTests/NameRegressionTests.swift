// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import Fuzzing
import Glibc
import TestKit
import Testing

/// Names whose fate changes while the request for them is on its way.
@Suite @LoopActor struct NameRegressionTests {
    private let name: BusName = "org.example.Bell"

    /// A connection to a bus made by hand, and what it has told of its name.
    @LoopActor private final class Side {
        let connection: Connection
        let peer: FakeBusPeer
        let changes = Mailbox<Bool>()
        private let bus: FakeBus

        init() async throws {
            bus = try FakeBus()
            connection = try await Connection.open(.address(bus.address))
            peer = try await bus.peers.next()
        }

        /// Requests the name, and answers together with what happens to it afterwards.
        func request(_ name: BusName, answer: UInt8, then news: String) async throws -> NameRequest
        {
            let (connection, changes) = (connection, changes)
            let request = LoopActor.task {
                try await connection.requestName(name, flags: []) { changes.append($0) }
            }
            let serial = try await peer.serial(of: "RequestName")
            var bytes: [UInt8] = []
            if answer == 1 { bytes += Self.signal("NameAcquired", name).bytes }
            bytes += WireMessage.reply(to: serial, "u", [answer, 0, 0, 0]).bytes
            peer.send(bytes + Self.signal(news, name).bytes)
            return try await request.value
        }

        private static func signal(_ member: String, _ name: BusName) -> WireMessage {
            WireMessage(
                type: 4,
                fields: [
                    .path("/org/freedesktop/DBus"), .interface("org.freedesktop.DBus"),
                    .member(member), .sender("org.freedesktop.DBus"), .signature("s"),
                ],
                body: WireMessage.text(name.string)
            )
        }
    }

    @Test func `a name that comes right behind the answer is told of`() async throws {
        let side = try await Side()
        #expect(try await side.request(name, answer: 2, then: "NameAcquired") == .queued)
        #expect(try await side.changes.next() == true)
    }

    @Test func `a name that is lost right behind the answer is told of`() async throws {
        let side = try await Side()
        #expect(try await side.request(name, answer: 1, then: "NameLost") == .owner)
        #expect(try await side.changes.next() == false)
    }

    @Test func `a request that is cancelled leaves the name free`() async throws {
        let side = try await Side()
        let (name, connection) = (name, side.connection)
        let request = LoopActor.task { try await connection.requestName(name) }
        _ = try await side.peer.serial(of: "RequestName")
        request.cancel()
        await #expect(throws: CancellationError.self) { try await request.value }
        // It has got the name by now, or gets it soon.
        let end = LoopActor.task { try await connection.owner(of: name) }
        var calls: [MemberName?] = []
        while calls.last != "GetNameOwner", let bytes = try await side.peer.messages.next() {
            calls.append(Message.demarshalled(bytes)?.member)
        }
        #expect(calls == ["ReleaseName", "GetNameOwner"])
        end.cancel()
    }

    @Test func `a second request that fails does not make the first one forgotten`() async throws {
        let bus = try await PrivateBus.start()
        let connection = try await Connection.open(.address(bus.address), whenLost: .reconnect)
        let changes = Mailbox<Bool>()
        try await connection.requestName(name) { changes.append($0) }
        bus.process.signal(SIGKILL)
        #expect(try await changes.next() == false)
        // There is nobody to ask now.
        await #expect(throws: DBusError.self) { try await connection.requestName(name) }
        try await bus.restart()
        #expect(try await changes.next() == true)
        #expect(try await connection.owner(of: name) == connection.uniqueName)
    }
}

extension FakeBusPeer {
    /// Waits for a call of the connection and returns its number.
    func serial(of member: MemberName) async throws -> UInt32 {
        while let bytes = try await messages.next("a call of \(member)") {
            if Message.demarshalled(bytes)?.member == member {
                return bytes[8..<12].reversed().reduce(0) { $0 << 8 | UInt32($1) }
            }
        }
        throw DeadlinePassed("a call of \(member)")
    }
}
