// SPDX-License-Identifier: Apache-2.0

import CDBus
import EventLoop
import TestKit
import Testing

@testable import DBus

@Suite @LoopActor struct CredentialTests {
    @Test func `a bus that knows more of a caller than this one is understood`() async throws {
        let bus = try await PrivateBus.start()
        let service = try await bus.connect()
        let told = Mailbox<Credentials>()
        service.export(
            [
                Interface(
                    "org.example.Bus",
                    [
                        .method("Tell", in: ["entries"]) { (_, entries: CredentialEntries) in
                            told.append(entries.credentials)
                        }
                    ]
                )
            ],
            at: "/"
        )
        let call = RawPeer.Call(
            destination: service.uniqueName.string,
            interface: "org.example.Bus",
            member: "Tell"
        ) { iterator in
            // As dbus-daemon 1.16 answers: a descriptor of the process, among what is known.
            var entries = DBusMessageIter()
            dbus_message_iter_open_container(iterator, RawPeer.code("a"), "{sv}", &entries)
            Self.entry("ProcessFD", &entries) { RawPeer.appendDescriptor(inVariantTo: $0) }
            Self.entry("UnixUserID", &entries) { iterator in
                var inner = DBusMessageIter()
                dbus_message_iter_open_container(iterator, RawPeer.code("v"), "u", &inner)
                var user: UInt32 = 1000
                dbus_message_iter_append_basic(&inner, RawPeer.code("u"), &user)
                dbus_message_iter_close_container(iterator, &inner)
            }
            dbus_message_iter_close_container(iterator, &entries)
        }
        #expect(try await RawPeer.call(call, on: bus.address) == .success)
        #expect(try await told.next() == Credentials(userID: 1000))
    }

    private nonisolated static func entry(
        _ key: String,
        _ entries: inout DBusMessageIter,
        _ value: (UnsafeMutablePointer<DBusMessageIter>) -> Void
    ) {
        var entry = DBusMessageIter()
        dbus_message_iter_open_container(&entries, RawPeer.code("e"), nil, &entry)
        RawPeer.append(key, to: &entry)
        value(&entry)
        dbus_message_iter_close_container(&entries, &entry)
    }
}
