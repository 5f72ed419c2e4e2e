// SPDX-License-Identifier: Apache-2.0

public import DBus
public import EventLoop

/// A message bus of a test's own: a real `dbus-daemon` that nobody else knows of.
@LoopActor public final class PrivateBus {
    /// Where to connect to, as `DBUS_SYSTEM_BUS_ADDRESS` has it.
    public let address: String

    /// The bus's process.
    public let process: ChildProcess

    /// The folder that holds its configuration, socket and whatever a test adds.
    public let folder: TemporaryFolder

    /// Starts a bus and waits until it can be connected to.
    ///
    /// - Parameters:
    ///   - serviceFolder: Where its activation files are.
    ///   - policy: Elements of a `<policy>` besides those that allow everything.
    ///   - limits: Limits besides the usual ones, by the names of `dbus-daemon`.
    ///   - environment: Changes to the environment that it gives to the services it starts.
    /// - Returns: A bus that accepts connections.
    /// - Throws: If `dbus-daemon` cannot be run.
    public static func start(
        serviceFolder: String? = nil,
        policy: String = "",
        limits: [String: Int] = [:],
        environment: [String: String?] = [:]
    ) async throws -> PrivateBus {
        let folder = try TemporaryFolder()
        let configuration = try folder.write(
            "bus.conf",
            """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <type>system</type>
              <listen>unix:path=\(folder.path)/bus</listen>
              \(serviceFolder.map { "<servicedir>\($0)</servicedir>" } ?? "")
              <policy context="default">
                <allow send_destination="*" eavesdrop="true"/>
                <allow eavesdrop="true"/>
                <allow own="*"/>
                \(policy)
              </policy>
              <limit name="max_connections_per_user">4096</limit>
              <limit name="max_completed_connections">4096</limit>
              \(limits.map { "<limit name=\"\($0)\">\($1)</limit>" }.joined())
            </busconfig>
            """
        )
        let process = try ChildProcess(
            "dbus-daemon",
            ["--config-file=\(configuration)", "--nofork", "--nopidfile", "--print-address"],
            environment: environment
        )
        let line = try await process.line(containing: "unix:")
        return PrivateBus(address: line, process: process, folder: folder)
    }

    private init(address: String, process: ChildProcess, folder: TemporaryFolder) {
        self.address = address
        self.process = process
        self.folder = folder
    }

    /// Makes a connection to the bus.
    public func connect() async throws -> Connection {
        try await Connection.open(.address(address))
    }

    /// The environment in which programs take this bus for the system's and the session's.
    public var environment: [String: String?] {
        ["DBUS_SYSTEM_BUS_ADDRESS": address, "DBUS_SESSION_BUS_ADDRESS": address]
    }
}
