// SPDX-License-Identifier: Apache-2.0

internal import DBus
public import EventLoop
private import Glibc
internal import Interfaces

/// The real `waymarkd`, as it was built together with the tests, on a bus of the test's.
@LoopActor public final class DaemonUnderTest {
    /// The daemon's process; its `output` is the daemon's log.
    public let process: ChildProcess

    /// The folder that holds its configuration and whatever a test adds.
    public let folder: TemporaryFolder

    /// The configuration that it was started with, and reads again on SIGHUP.
    public let configurationPath: String

    /// Starts the daemon and waits until it owns both of its names.
    ///
    /// - Parameters:
    ///   - bus: The bus that it is to serve.
    ///   - configuration: The text of its configuration; the empty one has no source and decides
    ///     nothing.
    ///   - arguments: Options besides `--bus`, `--config` and `--verbose`.
    ///   - environment: Changes to the test's own environment; `nil` removes a variable.
    /// - Returns: A daemon that answers calls.
    /// - Throws: If it ends instead, or does not come up in time; the error holds its log.
    public static func start(
        on bus: PrivateBus,
        configuration: String = "",
        arguments: [String] = [],
        environment: [String: String?] = [:]
    ) async throws -> DaemonUnderTest {
        let folder = try TemporaryFolder()
        let file = try folder.write("waymark.conf", configuration)
        let process = try ChildProcess(
            try builtProgram("waymarkd"),
            ["--bus", bus.address, "--config", file, "--verbose"] + arguments,
            environment: environment
        )
        let daemon = DaemonUnderTest(process, folder, configurationPath: file)
        try await daemon.waitForNames(on: try await bus.connect())
        return daemon
    }

    private init(
        _ process: ChildProcess,
        _ folder: TemporaryFolder,
        configurationPath: String
    ) {
        self.process = process
        self.folder = folder
        self.configurationPath = configurationPath
    }

    /// All that it has told.
    public var log: String { process.output }

    /// Gives it another configuration and waits until it has taken it.
    ///
    /// - Parameter configuration: The whole text.
    /// - Throws: If it does not say so in time; the error holds its log.
    public func reload(_ configuration: String) async throws {
        try folder.write("waymark.conf", configuration)
        process.signal(SIGHUP)
        try await process.line(containing: "the configuration was read again")
    }

    /// Asks it to end by SIGTERM, and waits until it has.
    ///
    /// - Returns: How it ended.
    /// - Throws: If it has not ended in time; the error holds its log.
    @discardableResult
    public func stop() async throws -> ChildProcess.Exit {
        process.signal(SIGTERM)
        return try await process.waitForExit()
    }

    private func waitForNames(on connection: Connection) async throws {
        defer { connection.close() }
        // The name for GeoClue's programs is the second of the two that it takes.
        for name in [Waymark.busName, GeoClueNames.busName] {
            do {
                try await eventually("an owner of \(name)") {
                    if process.exit != nil { throw DeadlinePassed("an owner of \(name)") }
                    return try await connection.owner(of: name) != nil
                }
            } catch {
                throw DeadlinePassed("an owner of \(name); the daemon's log: \(log)")
            }
        }
    }
}

/// The path of a program that was built together with the tests.
///
/// - Parameter name: The name of its target.
/// - Returns: Its path in the folder that holds the running test program.
/// - Throws: If it is not there.
public func builtProgram(_ name: String) throws -> String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    guard count > 0 else { throw SystemError(operation: "find the running test program") }
    let runner = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    // The test program may lie in a bundle, some folders deeper than the others.
    var folder = runner[...]
    while let slash = folder.lastIndex(of: "/"), slash != folder.startIndex {
        folder = folder[..<slash]
        let path = "\(folder)/\(name)"
        if isExecutableFile(path) { return path }
    }
    throw SystemError(code: ENOENT, operation: "find \(name) beside \(runner): build it first")
}

private func isExecutableFile(_ path: String) -> Bool {
    var information = stat()
    return stat(path, &information) == 0 && information.st_mode & S_IFMT == S_IFREG
        && access(path, X_OK) == 0
}
