// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import Glibc
import Interfaces
import TestKit
import Testing

@Suite @LoopActor struct ActivationTests {
    private let bus: PrivateBus
    private let client: Connection
    private let folder: TemporaryFolder

    /// A bus on which nothing runs, with the project's own activation files: only the program's
    /// place is another one, and no account and no service manager are needed.
    init() async throws {
        folder = try TemporaryFolder()
        let services = try folder.makeFolder("services")
        let configuration = try folder.write("waymark.conf", "")
        bus = try await PrivateBus.start(serviceFolder: services)
        let command = "\(try builtProgram("waymarkd")) --bus \(bus.address)"
        for name in ProjectFiles.activationFiles {
            let lines = try ProjectFiles.text("dbus/\(name).service").split(separator: "\n")
                .compactMap { line -> String? in
                    if line.hasPrefix("User=") || line.hasPrefix("SystemdService=") { return nil }
                    guard line.hasPrefix("Exec=") else { return String(line) }
                    return "Exec=\(command) --config \(configuration)"
                }
            // The bus looks into the folder again for a name that it does not know.
            try folder.write("services/\(name).service", lines.joined(separator: "\n") + "\n")
        }
        client = try await bus.connect()
    }

    private func expectNothingRuns() async throws {
        #expect(try await client.owner(of: Waymark.busName) == nil)
        #expect(try await client.owner(of: GeoClueNames.busName) == nil)
    }

    /// The daemon owns both names; it ends when the bus does.
    private func expectEndWithBus() async throws {
        let owner = try #require(try await client.owner(of: Waymark.busName))
        try await eventually("the other name") {
            try await client.owner(of: GeoClueNames.busName) == owner
        }
        let process = try #require(try await client.credentials(of: owner).processID)
        #expect(isRunning(process))
        bus.process.signal(SIGKILL)
        do {
            try await eventually("the end of process \(process)") { !isRunning(process) }
        } catch {
            kill(pid_t(process), SIGKILL)
            throw error
        }
    }

    /// A process that has ended may have nobody who takes note of it: that is state Z.
    private func isRunning(_ process: UInt32) -> Bool {
        guard let stat = try? readFile("/proc/\(process)/stat"),
            let end = stat.lastIndex(of: ")")
        else { return false }
        return !stat[end...].hasPrefix(") Z")
    }

    @Test func `the first call of the own name starts the daemon and is answered`() async throws {
        try await expectNothingRuns()
        let status = try await client.call(
            "GetAuthorization",
            on: Waymark.location,
            at: Waymark.path,
            of: Waymark.busName
        ).results(String.self)
        #expect(status == "not-determined")
        try await expectEndWithBus()
    }

    @Test func `the first call of GeoClue's name starts the daemon and is answered`() async throws {
        try await expectNothingRuns()
        try await client.call(
            "Ping",
            on: "org.freedesktop.DBus.Peer",
            at: "/org/freedesktop/GeoClue2/Manager",
            of: GeoClueNames.busName
        )
        try await expectEndWithBus()
    }
}
