// SPDX-License-Identifier: Apache-2.0

public import DBus
public import EventLoop
private import Glibc

/// A message bus of a test's own: a real `dbus-daemon` that nobody else knows of.
@LoopActor public final class PrivateBus {
    /// Where to connect to, as `DBUS_SYSTEM_BUS_ADDRESS` has it.
    public private(set) var address: String

    /// The bus's process.
    public private(set) var process: ChildProcess

    /// The folder that holds its configuration, socket and whatever a test adds.
    public let folder: TemporaryFolder

    /// Starts a bus and waits until it can be connected to.
    ///
    /// - Parameters:
    ///   - serviceFolder: Where its activation files are; the services are told of it as both the
    ///     system's and the session's bus.
    ///   - includes: Files of policies to be read behind the ones that allow nearly everything.
    ///   - allowsOwnership: Whether anybody may own any name, unless a policy forbids it.
    ///   - limits: Limits besides the usual ones, by the names of `dbus-daemon`.
    ///   - lifetime: It is killed if it runs longer.
    /// - Returns: A bus that accepts connections.
    /// - Throws: If `dbus-daemon` cannot be run.
    public static func start(
        serviceFolder: String? = nil,
        includes: [String] = [],
        allowsOwnership: Bool = true,
        limits: [String: Int] = [:],
        lifetime: Duration = .seconds(120)
    ) async throws -> PrivateBus {
        try await start(
            """
            \(serviceFolder.map { "<servicedir>\($0)</servicedir>" } ?? "")
            <policy context="default">
              <allow send_destination="*" eavesdrop="true"/>
              <allow eavesdrop="true"/>
              \(allowsOwnership ? "<allow own=\"*\"/>" : "")
            </policy>
            \(elements(including: includes))
            """,
            limits: limits,
            lifetime: lifetime
        )
    }

    /// Starts a bus that any user can connect to and that refuses what a system bus refuses: to
    /// own names and to call others, but for what files of policies allow.
    ///
    /// - Parameter policyFiles: The files' paths.
    /// - Returns: A bus that accepts connections.
    /// - Throws: If `dbus-daemon` cannot be run, or does not accept a file.
    public static func startStrict(policyFiles: [String]) async throws -> PrivateBus {
        let bus = try await start(
            """
            <policy context="default">
              <allow user="*"/>
              <deny own="*"/>
              <deny send_type="method_call"/>
              <allow send_type="signal"/>
              <allow send_type="method_return" send_requested_reply="true"/>
              <allow send_type="error" send_requested_reply="true"/>
              <allow receive_type="method_call"/>
              <allow receive_type="method_return"/>
              <allow receive_type="error"/>
              <allow receive_type="signal"/>
              <allow send_destination="org.freedesktop.DBus"
                     send_interface="org.freedesktop.DBus"/>
            </policy>
            \(elements(including: policyFiles))
            """
        )
        try retryingOnInterrupt("open \(bus.folder.path)") { chmod(bus.folder.path, 0o755) }
        return bus
    }

    private static func elements(including files: [String]) -> String {
        files.map { "<include>\($0)</include>" }.joined(separator: "\n")
    }

    private static func start(
        _ elements: String,
        limits: [String: Int] = [:],
        lifetime: Duration = .seconds(120)
    ) async throws -> PrivateBus {
        let folder = try TemporaryFolder()
        let address = "unix:path=\(folder.path)/bus"
        // A bus of the type "session" starts services itself, as its own user.
        let configuration = try folder.write(
            "bus.conf",
            """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <type>session</type>
              <listen>\(address)</listen>
              \(elements)
              <limit name="max_connections_per_user">4096</limit>
              <limit name="max_replies_per_connection">50000</limit>
              <limit name="max_completed_connections">4096</limit>
              \(limits.map { "<limit name=\"\($0)\">\($1)</limit>" }.joined())
            </busconfig>
            """
        )
        let (process, line) = try await run(configuration, address: address, lifetime: lifetime)
        return PrivateBus(address: line, process: process, folder: folder)
    }

    private static func run(
        _ configuration: String,
        address: String,
        lifetime: Duration = .seconds(120)
    ) async throws -> (ChildProcess, line: String) {
        let process = try ChildProcess(
            "dbus-daemon",
            ["--config-file=\(configuration)", "--nofork", "--nopidfile", "--print-address"],
            environment: ["DBUS_SYSTEM_BUS_ADDRESS": address],
            lifetime: lifetime
        )
        return (process, try await process.line(containing: "unix:path="))
    }

    /// Starts the bus anew at the same place, after its process has ended.
    ///
    /// - Throws: If `dbus-daemon` cannot be run.
    public func restart() async throws {
        unlink("\(folder.path)/bus")
        let place = "unix:path=\(folder.path)/bus"
        (process, address) = try await Self.run("\(folder.path)/bus.conf", address: place)
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
