// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import Glibc
import Interfaces
import TestKit
import Testing

/// Calls of other users on a bus that allows only what the project's policies do.
///
/// The account `waymark` need not exist here: `daemon` stands in for it in the policies.
@Suite(.enabled(if: geteuid() == 0, "skipped: only root can act as other users"))
@LoopActor struct BusPolicyTests {
    private let folder: TemporaryFolder
    private let bus: PrivateBus

    init() async throws {
        let folder = try TemporaryFolder()
        let files = try ProjectFiles.activationFiles.map { name in
            let policy = try ProjectFiles.text("dbus/\(name).conf").split(
                separator: "\"waymark\"",
                omittingEmptySubsequences: false
            )
            .joined(separator: "\"daemon\"")
            return try folder.write("\(name).conf", policy)
        }
        self.folder = folder
        bus = try await PrivateBus.startStrict(policyFiles: files)
    }

    /// What `dbus-send` prints when a user makes a call.
    private func call(
        as user: String,
        _ destination: String,
        _ path: String,
        _ member: String,
        _ arguments: [String] = []
    ) async throws -> String {
        let words = ["--reuid=\(user)", "--regid=\(user)", "--clear-groups", "dbus-send"]
        let options = ["--bus=\(bus.address)", "--print-reply", "--dest=\(destination)"]
        let process = try ChildProcess("setpriv", words + options + [path, member] + arguments)
        try await process.waitForExit()
        return process.output
    }

    private func requestName(_ name: String, as user: String) async throws -> String {
        try await call(
            as: user,
            "org.freedesktop.DBus",
            "/org/freedesktop/DBus",
            "org.freedesktop.DBus.RequestName",
            ["string:\(name)", "uint32:4"]
        )
    }

    @Test(arguments: ProjectFiles.activationFiles)
    func `only root and the service's account can own a name`(_ name: String) async throws {
        let connection = try await bus.connect()
        let stranger = try await requestName(name, as: "games")
        #expect(stranger.contains("Error.AccessDenied"), "\(stranger)")
        let account = try await requestName(name, as: "daemon")
        #expect(account.contains("uint32 1"), "\(account)")
        #expect(try await connection.requestName(BusName(unchecked: name)) == .owner)
        // Nothing else is opened by the policies.
        await #expect(throws: DBusError.self) {
            try await connection.requestName("org.waymark.Other")
        }
    }

    @Test func `any user can call the daemon, by the interfaces that it has`() async throws {
        let daemon = try await DaemonUnderTest.start(on: bus)
        let path = Waymark.path.string
        for (name, member, arguments) in [
            (Waymark.busName, "org.waymark.Location1.GetAuthorization", []),
            (Waymark.busName, "org.freedesktop.DBus.Introspectable.Introspect", []),
            (Waymark.busName, "org.freedesktop.DBus.Peer.Ping", []),
            (
                Waymark.busName, "org.freedesktop.DBus.Properties.Get",
                ["string:org.waymark.Location1", "string:Version"]
            ),
            (GeoClueNames.busName, "org.freedesktop.DBus.Peer.Ping", []),
        ] {
            let output = try await call(as: "games", name.string, path, member, arguments)
            #expect(output.contains("method return"), "\(member): \(output)")
        }
        for member in [
            "org.waymark.Location1.Sessions.None", "org.waymark.Location1.Session.None",
            "org.waymark.Location1.Agents.None", "org.waymark.Location1.Policy.None",
            "org.freedesktop.GeoClue2.Manager.None", "org.freedesktop.GeoClue2.Client.None",
            "org.freedesktop.GeoClue2.Location.None",
        ] {
            let output = try await call(as: "games", Waymark.busName.string, path, member)
            #expect(output.contains("Error.Unknown"), "\(member): \(output)")
        }
        let other = try await call(
            as: "games",
            Waymark.busName.string,
            path,
            "org.freedesktop.DBus.ObjectManager.GetManagedObjects"
        )
        #expect(other.contains("Error.AccessDenied"), "\(other)")
        try await daemon.stop()
    }

    @Test func `the service's account and root can call agents, and nobody else can`() async throws
    {
        let agent = try await bus.connect()
        let names: [InterfaceName] = [
            "org.waymark.Location1.Agent", "org.freedesktop.GeoClue2.Agent",
        ]
        let path: ObjectPath = "/org/freedesktop/GeoClue2/Agent"
        agent.export(
            names.map { Interface($0, [.method("Ask", out: ["answer"]) { _ in "yes" }]) },
            at: path
        )
        let service = try await bus.connect()
        for name in names {
            let answer = try await service.call("Ask", on: name, at: path, of: agent.uniqueName)
            #expect(try answer.results(String.self) == "yes")
            for (user, expected) in [("daemon", "method return"), ("games", "Error.AccessDenied")] {
                let output = try await call(
                    as: user,
                    agent.uniqueName.string,
                    path.string,
                    "\(name.string).Ask"
                )
                #expect(output.contains(expected), "\(user): \(output)")
            }
        }
        // GeoClue's agents have a property that the service reads.
        for (user, expected) in [("daemon", "method return"), ("games", "Error.AccessDenied")] {
            let output = try await call(
                as: user,
                agent.uniqueName.string,
                path.string,
                "org.freedesktop.DBus.Properties.GetAll",
                ["string:org.freedesktop.GeoClue2.Agent"]
            )
            #expect(output.contains(expected), "\(user): \(output)")
        }
    }
}

@Suite @LoopActor struct BusPolicyFileTests {
    @Test func `a bus accepts the policies as they are, and root may then serve`() async throws {
        let bus = try await PrivateBus.startStrict(
            policyFiles: ProjectFiles.activationFiles.map { ProjectFiles.path("dbus/\($0).conf") }
        )
        let connection = try await bus.connect()
        guard geteuid() == 0 else {
            await #expect(throws: DBusError.self) {
                try await connection.requestName(Waymark.busName)
            }
            return
        }
        let daemon = try await DaemonUnderTest.start(on: bus)
        #expect(try await connection.owner(of: Waymark.busName) != nil)
        try await daemon.stop()
    }
}
