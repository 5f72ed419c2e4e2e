// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import TestKit
import Testing

@testable import DBus

@Suite @LoopActor struct CredentialTests {
    /// What a service understands of a caller of whom a bus tells these things.
    private func understood(_ entries: [String: Value]) async throws -> Credentials {
        let bus = try await PrivateBus.start()
        let (service, client) = (try await bus.connect(), try await bus.connect())
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
        try await client.call(
            "Tell",
            on: "org.example.Bus",
            at: "/",
            of: service.uniqueName,
            entries
        )
        return try await told.next()
    }

    @Test func `all that a bus tells of a caller is understood`() async throws {
        let process = try UnixDescriptor(duplicating: 0)
        let credentials = try await understood([
            "UnixUserID": .uint32(1000),
            "UnixGroupIDs": .array(of: "u", [.uint32(4), .uint32(1000)]),
            "ProcessID": .uint32(77),
            "ProcessFD": .descriptor(process),
            "LinuxSecurityLabel": .array(of: "y", [.byte(0x61), .byte(0x62), .byte(0)]),
            "WindowsSID": "S-1-5",
        ])
        #expect(credentials.userID == 1000 && credentials.processID == 77)
        #expect(credentials.groupIDs == [4, 1000])
        #expect(credentials.securityLabel == "ab")
        let descriptor = try #require(credentials.processDescriptor)
        #expect(descriptor.number != process.number && fcntl(descriptor.number, F_GETFD) >= 0)
    }

    @Test func `what a bus tells in other types than it should is passed over`() async throws {
        let credentials = try await understood([
            "UnixUserID": .uint32(1000),
            "UnixGroupIDs": .array(of: "s", ["wheel"]),
            "ProcessID": "77",
            "ProcessFD": .uint32(3),
            "LinuxSecurityLabel": "unconfined",
        ])
        #expect(credentials == Credentials(userID: 1000))
    }

    @Test func `a caller without a user is an error`() async throws {
        await #expect(throws: DBusError.self) { try await understood(["ProcessID": .uint32(7)]) }
    }

    @Test func `a real bus tells this process's groups`() async throws {
        let bus = try await PrivateBus.start()
        let connection = try await bus.connect()
        let credentials = try await connection.credentials(of: connection.uniqueName)
        #expect(credentials.userID == geteuid() && credentials.processID == UInt32(getpid()))
        var groups = [gid_t](repeating: 0, count: 65_536)
        let count = getgroups(CInt(groups.count), &groups)
        let own = Set(groups.prefix(max(Int(count), 0))).union([getegid()])
        if let told = credentials.groupIDs { #expect(Set(told) == own) }
        if let descriptor = credentials.processDescriptor {
            #expect(fcntl(descriptor.number, F_GETFD) == FD_CLOEXEC)
        }
        await #expect {
            try await connection.credentials(of: ":1.99999")
        } throws: {
            ($0 as? DBusError)?.name == .nameHasNoOwner
        }
    }
}
