// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import TestKit
import Testing

/// Well-known names: who owns them, who waits for them, and who is told.
@Suite @LoopActor struct NameTests {
    private let name: BusName = "org.example.Bell"

    @Test func `a name is replaced, waited for and comes back`() async throws {
        let bus = try await PrivateBus.start()
        let (first, second) = (try await bus.connect(), try await bus.connect())
        let (firstHas, secondHas) = (Mailbox<Bool>(), Mailbox<Bool>())
        let request = try await first.requestName(name, flags: .allowReplacement) {
            firstHas.append($0)
        }
        #expect(request == .owner)
        #expect(
            try await first.requestName(name, flags: .allowReplacement) { firstHas.append($0) }
                == .alreadyOwner
        )
        #expect(try await second.requestName(name) == .exists)
        #expect(try await second.requestName(name, flags: []) { secondHas.append($0) } == .queued)
        #expect(secondHas.contents.isEmpty)
        #expect(
            try await second.requestName(name, flags: .replaceExisting) { secondHas.append($0) }
                == .owner
        )
        // The first did not say that it does not want to wait.
        #expect(try await firstHas.next() == false)
        try await second.releaseName(name)
        #expect(try await firstHas.next() == true)
        #expect(secondHas.contents.isEmpty)
        #expect(try await second.owner(of: name) == first.uniqueName)
        first.close()
        try await eventually("the name is free") { try await second.owner(of: name) == nil }
    }

    @Test func `a name that the policy forbids is an error`() async throws {
        let bus = try await PrivateBus.start(allowsOwnership: false)
        let connection = try await bus.connect()
        await #expect {
            try await connection.requestName(name)
        } throws: {
            ($0 as? DBusError)?.name == .accessDenied
        }
    }

    @Test func `who watches a name learns of its owner, and of each change`() async throws {
        let bus = try await PrivateBus.start()
        let client = try await bus.connect()
        let owners = Mailbox<BusName?>()
        var watches = [try client.watchName(name) { owners.append($0) }]
        #expect(try await owners.next() == nil)
        let service = try await bus.connect()
        try await service.requestName(name)
        #expect(try await owners.next() == service.uniqueName)
        #expect(watches[0].owner == service.uniqueName)
        // Who asks later is answered from what is known.
        watches.append(try client.watchName(name) { owners.append($0) })
        #expect(watches[1].owner == service.uniqueName)
        #expect(try await owners.next() == service.uniqueName)
        watches.append(try client.watchName(service.uniqueName) { owners.append($0) })
        #expect(try await owners.next() == service.uniqueName)
        service.close()
        for _ in 0..<3 { #expect(try await owners.next() == nil) }
        watches[0].cancel()
        watches.removeLast(2)
        let other = try await bus.connect()
        try await other.requestName(name)
        _ = try await client.owner(of: name)
        #expect(owners.contents.isEmpty)
    }

    @Test func `a watch can end itself and others when it is told`() async throws {
        let bus = try await PrivateBus.start()
        let client = try await bus.connect()
        let told = Mailbox<Void>()
        var watches: [NameWatch] = []
        for _ in 0..<3 {
            watches.append(
                try client.watchName(name) { owner in
                    guard owner != nil else { return }
                    told.append(())
                    for watch in watches { watch.cancel() }
                    watches = []
                }
            )
        }
        let service = try await bus.connect()
        try await service.requestName(name)
        try await told.next()
        _ = try await client.owner(of: name)
        #expect(told.contents.isEmpty)
    }

    @Test func `a service is started by its name, or not, as the caller wants`() async throws {
        let folder = try TemporaryFolder()
        // It takes no name, so that each start fails: that it was tried is all that is asked.
        try folder.write(
            "org.example.Bell.service",
            "[D-BUS Service]\nName=org.example.Bell\nExec=/bin/false\n"
        )
        let bus = try await PrivateBus.start(serviceFolder: folder.path)
        let client = try await bus.connect()
        func failure(_ flags: CallFlags) async -> ErrorName? {
            do {
                try await client.call(
                    "Ring",
                    on: "org.example.Bell",
                    at: "/",
                    of: name,
                    flags: flags
                )
                return nil
            } catch {
                return (error as? DBusError)?.name
            }
        }
        #expect(await failure([])?.string == "org.freedesktop.DBus.Error.Spawn.ChildExited")
        #expect(await failure(.noActivation) == .nameHasNoOwner)
        await #expect {
            try await client.startService(name)
        } throws: {
            ($0 as? DBusError)?.name.string == "org.freedesktop.DBus.Error.Spawn.ChildExited"
        }
        await #expect {
            try await client.startService("org.example.Nobody")
        } throws: {
            ($0 as? DBusError)?.name == .serviceUnknown
        }
    }
}
