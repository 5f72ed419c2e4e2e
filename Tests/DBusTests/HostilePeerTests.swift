// SPDX-License-Identifier: Apache-2.0

import CDBus
import DBus
import EventLoop
import TestKit
import Testing

/// Peers that send what the service does not expect: it answers and lives on.
@Suite @LoopActor struct HostilePeerTests {
    @LoopActor private struct Service {
        let bus: PrivateBus
        let connection: Connection
        let calls = Mailbox<String>()

        init() async throws {
            bus = try await PrivateBus.start()
            connection = try await bus.connect()
            let calls = calls
            let interface = Interface(
                "org.example.Bell",
                [
                    .method("Ring") { _ in calls.append("Ring") },
                    .method("Play", in: ["what"]) { (_, _: Value) in calls.append("Play") },
                    .property("Tone", notice: .none) { _ in
                        Value.string("C")
                    } set: { _, _ in
                        calls.append("Tone")
                    },
                    .property("Name", notice: .none) { _ in
                        "big"
                    } set: { _, _ in
                    },
                ]
            )
            connection.export([interface], at: "/")
        }

        func call(
            _ member: String,
            on interface: String? = "org.example.Bell",
            wantsReply: Bool = true,
            _ append: @escaping @Sendable (UnsafeMutablePointer<DBusMessageIter>) -> Void = { _ in }
        ) async throws -> RawPeer.Answer {
            try await RawPeer.call(
                RawPeer.Call(
                    destination: connection.uniqueName.string,
                    interface: interface,
                    member: member,
                    wantsReply: wantsReply,
                    append: append
                ),
                on: bus.address
            )
        }

        func expectAlive() async throws {
            #expect(try await call("Ring") == .success)
            #expect(connection.isOpen)
        }
    }

    private func isInvalidArguments(_ answer: RawPeer.Answer) -> Bool {
        if case .error("org.freedesktop.DBus.Error.InvalidArgs", _) = answer { true } else { false }
    }

    @Test func `a call without an interface finds the method by its name`() async throws {
        let service = try await Service()
        #expect(try await service.call("Ring", on: nil) == .success)
        #expect(service.calls.contents == ["Ring"])
        #expect(try await service.call("Introspect", on: nil) == .success)
        let answer = try await service.call("Break", on: nil)
        guard case .error("org.freedesktop.DBus.Error.UnknownMethod", _) = answer else {
            Issue.record("answered by \(answer)")
            return
        }
    }

    @Test func `a call that wants no answer gets none, not even an error`() async throws {
        let service = try await Service()
        #expect(try await service.call("Ring", wantsReply: false) == .unasked(0))
        #expect(service.calls.contents == ["Ring"])
        #expect(try await service.call("Break", wantsReply: false) == .unasked(0))
        #expect(try await service.call("Play", wantsReply: false) == .unasked(0))
    }

    @Test func `a descriptor where another type is expected is a clear error`() async throws {
        let service = try await Service()
        for property in ["Tone", "Name"] {
            let set = try await service.call("Set", on: "org.freedesktop.DBus.Properties") {
                RawPeer.append("org.example.Bell", to: $0)
                RawPeer.append(property, to: $0)
                RawPeer.appendDescriptor(inVariantTo: $0)
            }
            #expect(isInvalidArguments(set))
        }
        #expect(service.calls.contents.isEmpty)
        try await service.expectAlive()
    }

    @Test func `names that are none are texts like others`() async throws {
        let service = try await Service()
        for name in ["", "no interface", "ä", String(repeating: "x", count: 300), "a\nb"] {
            let got = try await service.call("Get", on: "org.freedesktop.DBus.Properties") {
                RawPeer.append(name, to: $0)
                RawPeer.append(name, to: $0)
            }
            guard case .error = got else {
                Issue.record("“\(name)” was found")
                return
            }
        }
        try await service.expectAlive()
    }

    @Test func `an error does not repeat a text of millions of letters`() async throws {
        let service = try await Service()
        let answer = try await service.call("Get", on: "org.freedesktop.DBus.Properties") {
            RawPeer.append(String(repeating: "ä", count: 3_000_000), to: $0)
            RawPeer.append("Tone", to: $0)
        }
        guard case .error("org.freedesktop.DBus.Error.UnknownInterface", let text) = answer else {
            Issue.record("not refused as it should be")
            return
        }
        // With the whole name in it, an answer may be larger than the bus lets pass, which ends
        // the connection of who sends it.
        #expect(text.utf8.count < 5000)
        #expect(text.contains("ä"))
        try await service.expectAlive()
    }

    @Test func `an error whose first argument is no text has no text`() async throws {
        let bus = try await PrivateBus.start()
        let client = try await bus.connect()
        let address = bus.address
        let peer = LoopActor.task {
            try await RawPeer.answerOnce(as: "org.example.Odd", on: address)
        }
        try await eventually("the peer's name") {
            try await client.owner(of: "org.example.Odd") != nil
        }
        await #expect(throws: DBusError("org.example.Odd", "", details: [.uint32(7)])) {
            try await client.call("Ring", on: "org.example.Bell", at: "/", of: "org.example.Odd")
        }
        try await peer.value
    }
}
