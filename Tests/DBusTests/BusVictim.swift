// SPDX-License-Identifier: Apache-2.0

import CDBus
import DBus
import EventLoop
import Fuzzing
import TestKit
import Testing

/// A connection with all that can be reached from outside, and the fake bus's end of it.
@LoopActor final class BusVictim {
    let connection: Connection
    let peer: FakeBusPeer

    /// The number of a call that waits for its answer.
    let waitingSerial: UInt32

    /// That call.
    let waiting: Task<[String: Value], any Error>

    private let losses = Mailbox<Void>()
    private var isSocketEnded = false
    private let subscription: Subscription

    private struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    init(on bus: FakeBus) async throws {
        connection = try await Connection.open(.address(bus.address))
        peer = try await bus.peers.next()
        let (connection, losses) = (connection, losses)
        connection.onDisconnect = { losses.append(()) }
        connection.export(
            [
                Interface(
                    "org.example.Bell",
                    [
                        .method("Ring") { _ in },
                        .method("Play", in: ["it"], out: ["it"]) { (_, it: Value) in it },
                        .property("Tone", notice: .none) { _ in
                            Value.string("C")
                        } set: { _, _ in
                        },
                        .property("Names", notice: .none) { _ in
                            ["big"]
                        } set: { _, _ in
                        },
                    ]
                )
            ],
            at: "/"
        )
        let signal = Signal<String, [String: Value]>(
            "Rung",
            of: "org.example.Bell",
            arguments: ["who", "how"]
        )
        subscription = try connection.subscribe(to: signal, from: "/", of: ":1.42") { _, _ in }
        waiting = LoopActor.task {
            try await connection.call(
                "Wait",
                on: "org.example.Bell",
                at: "/",
                of: ":1.42",
                timeout: nil
            ).results([String: Value].self)
        }
        // The first message is the wish for the signal.
        _ = try await peer.messages.next("the match")
        let call = try await peer.messages.next("the call that waits") ?? []
        waitingSerial = call[8..<12].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Makes sure that the connection goes on after what was sent, or ends if it may.
    func expectAnswer(orEnd mayEnd: Bool = false) async throws {
        var ping = WireMessage.call("Ring")
        ping.serial = 0xfeed
        peer.send(ping.bytes)
        while let bytes = try await peer.messages.next("the answer to a call") {
            guard let answer = Message.demarshalled(bytes) else {
                throw Failure(description: "the connection sent what is no message: \(bytes)")
            }
            if dbus_message_get_reply_serial(answer.pointer) == 0xfeed {
                if answer.kind != .methodReturn { throw Failure(description: "not answered well") }
                return
            }
        }
        isSocketEnded = true
        if !mayEnd { throw Failure(description: "the connection has ended") }
    }

    /// Makes sure that the connection tells of its end, and that all ends that belongs to it.
    func expectEnd() async throws {
        _ = try await losses.next("the end of the connection")
        _ = await waiting.result
        // What was to be told twice would have been told by now.
        if !isSocketEnded {
            _ = try await peer.messages.next("the end of the socket") { $0 == nil }
        }
        guard losses.contents.isEmpty else { throw Failure(description: "ended twice") }
        guard !connection.isOpen else { throw Failure(description: "open after its end") }
        subscription.cancel()
    }
}
