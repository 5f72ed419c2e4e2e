// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import Interfaces
import TestKit
import Testing

@Suite @LoopActor struct NameTests {
    @Test func `the daemon owns both names on one connection and ends when it is asked to`()
        async throws
    {
        let bus = try await PrivateBus.start()
        let daemon = try await DaemonUnderTest.start(on: bus)
        let connection = try await bus.connect()
        let owner = try await connection.owner(of: Waymark.busName)
        #expect(owner != nil)
        #expect(try await connection.owner(of: GeoClueNames.busName) == owner)
        #expect(try await daemon.stop() == .status(0), "\(daemon.log)")
        #expect(try await connection.owner(of: Waymark.busName) == nil)
    }

    @Test func `the activation files and the unit are for the names that the daemon owns`()
        async throws
    {
        let bus = try await PrivateBus.start()
        let daemon = try await DaemonUnderTest.start(on: bus)
        let connection = try await bus.connect()
        let names = try await connection.call(
            "ListNames",
            on: "org.freedesktop.DBus",
            at: "/org/freedesktop/DBus",
            of: "org.freedesktop.DBus"
        ).results([String].self)
        let owned = Set(names.filter { !$0.hasPrefix(":") && $0 != "org.freedesktop.DBus" })
        var activated: Set<String> = []
        for file in ProjectFiles.activationFiles {
            let name = try ProjectFiles.values(of: "Name", in: "dbus/\(file).service")
            // The system bus takes only files that are named after what they are for.
            #expect(name == [file])
            activated.formUnion(name)
        }
        #expect(activated == owned)
        let unitName = try ProjectFiles.values(of: "BusName", in: "data/waymark.service")
        #expect(unitName == [Waymark.busName.string])
        try await daemon.stop()
    }

    @Test func `activation files, unit, policies and account agree`() throws {
        let unit = "data/waymark.service"
        let command = try ProjectFiles.values(of: "ExecStart", in: unit).first ?? ""
        let user = try ProjectFiles.values(of: "User", in: unit)
        #expect(user == ["waymark"])
        #expect(try ProjectFiles.text("data/waymark.sysusers").contains("\nu waymark "))
        for file in ProjectFiles.activationFiles {
            let service = "dbus/\(file).service"
            let program = try ProjectFiles.values(of: "Exec", in: service)
            #expect(program == [String(command.prefix { $0 != " " })])
            #expect(try ProjectFiles.values(of: "User", in: service) == user)
            #expect(
                try ProjectFiles.values(of: "SystemdService", in: service) == ["waymark.service"]
            )
            let policy = try ProjectFiles.text("dbus/\(file).conf")
            #expect(policy.contains("<policy user=\"waymark\">"))
            #expect(policy.contains("<allow own=\"\(file)\"/>"))
        }
    }
}
