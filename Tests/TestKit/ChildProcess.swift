// SPDX-License-Identifier: Apache-2.0

private import CLinux
public import EventLoop
private import Glibc

/// A program that a test runs: in a process group of its own, with an empty signal mask and a
/// deadline, killed with its descendants when the test lets go of it or the test process dies.
@LoopActor public final class ChildProcess {
    /// How a child ended.
    public enum Exit: Hashable, Sendable {
        /// It returned a status.
        case status(Int32)
        /// A signal ended it.
        case signal(Int32)
    }

    /// The process's id, and its group's.
    public let id: Int32

    /// How it ended, `nil` while it runs.
    public private(set) var exit: Exit?

    /// All that it printed, both streams, for messages of failed tests.
    public private(set) var output = ""

    /// Lines that it printed, both streams, as they come.
    public let lines = Mailbox<String>()

    private let exits = Mailbox<Exit>()
    private let pipe: Descriptor
    private let process: Descriptor
    private var watches: [DescriptorWatch] = []
    private var partialLine: [UInt8] = []
    private var deadline: Timer?

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: Its path, or its name to be looked for in `PATH`.
    ///   - arguments: What follows its name.
    ///   - environment: Changes to the test's own environment; `nil` removes a variable.
    ///   - lifetime: It is killed if it runs longer.
    /// - Throws: What the system says.
    public init(
        _ program: String,
        _ arguments: [String] = [],
        environment: [String: String?] = [:],
        lifetime: Duration = .seconds(120)
    ) throws {
        var ends: [CInt] = [-1, -1]
        try retryingOnInterrupt("create a pipe") { Glibc.pipe(&ends) }
        pipe = Descriptor(adopting: ends[0])
        let writeEnd = Descriptor(adopting: ends[1])
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)

        // The loop's thread lives as long as the test process, so the kernel kills the child when
        // that dies, in whatever way.
        let command = ["setpriv", "--pdeathsig", "KILL", "--", program] + arguments
        id = try Self.spawn(command, environment: environment, output: writeEnd.number)
        let id = id
        process = try Descriptor("watch process \(id)") { pidfd_open(id, 0) }

        watches = [
            DescriptorWatch(pipe.number, for: .readable) { [weak self] _ in self?.readOutput() },
            DescriptorWatch(process.number, for: .readable) { [weak self] _ in self?.reap() },
        ]
        deadline = SystemTimekeeper.shared.schedule(after: lifetime) { [weak self] in
            self?.signalGroup(SIGKILL)
        }
    }

    isolated deinit {
        deadline?.cancel()
        for watch in watches { watch.cancel() }
        // The group goes even if its leader has: that is how gpsfake leaves a gpsd behind.
        kill(-id, SIGKILL)
        if exit == nil {
            var status: CInt = 0
            waitpid(id, &status, 0)
        }
    }

    /// Sends a signal to the process.
    public func signal(_ signal: CInt) {
        if exit == nil { kill(id, signal) }
    }

    /// Sends a signal to the process and its descendants.
    public func signalGroup(_ signal: CInt) {
        kill(-id, signal)
    }

    /// Waits until the process has ended.
    @discardableResult
    public func waitForExit(within limit: Duration = .seconds(20)) async throws -> Exit {
        if let exit { return exit }
        return try await exits.next(
            "the end of process \(id); it printed: \(output)",
            within: limit
        )
    }

    /// Waits for a line that holds a text; lines before it are dropped.
    @discardableResult
    public func line(
        containing text: String,
        within limit: Duration = .seconds(20)
    ) async throws -> String {
        do {
            return try await lines.next("a line", within: limit) { $0.contains(text) }
        } catch {
            throw DeadlinePassed("a line with “\(text)”; there was: \(output)")
        }
    }

    /// Ends the process, kindly first, and waits until it is gone.
    public func stop() async throws {
        signal(SIGTERM)
        if exit == nil, (try? await waitForExit(within: .seconds(5))) == nil {
            signalGroup(SIGKILL)
            try await waitForExit()
        }
        signalGroup(SIGKILL)
    }

    private func readOutput() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(pipe.number, &buffer, buffer.count)
            if count <= 0 {
                if count == 0 || errno != EAGAIN { watches[0].cancel() }
                return
            }
            output += String(decoding: buffer[..<count], as: UTF8.self)
            for byte in buffer[..<count] {
                if byte == UInt8(ascii: "\n") {
                    lines.append(String(decoding: partialLine, as: UTF8.self))
                    partialLine.removeAll()
                } else {
                    partialLine.append(byte)
                }
            }
        }
    }

    private func reap() {
        var status: CInt = 0
        guard waitpid(id, &status, WNOHANG) == id else { return }
        watches[1].cancel()
        deadline?.cancel()
        readOutput()
        let exit = status & 0x7f == 0 ? Exit.status(status >> 8 & 0xff) : .signal(status & 0x7f)
        self.exit = exit
        exits.append(exit)
    }

    private static func spawn(
        _ command: [String],
        environment changes: [String: String?],
        output: CInt
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_adddup2(&actions, output, 2)

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP
        posix_spawnattr_setflags(&attributes, Int16(flags))

        var variables = Self.environment
        for (name, value) in changes { variables[name] = value }
        var arguments = command.map { strdup($0) } + [nil]
        var environment = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + environment { free(text) } }

        var id: pid_t = 0
        let status = posix_spawnp(
            &id,
            command[0],
            &actions,
            &attributes,
            &arguments,
            &environment
        )
        guard status == 0 else {
            throw SystemError(code: status, operation: "run \(command[4])")
        }
        return id
    }

    private static var environment: [String: String] {
        var variables: [String: String] = [:]
        var entry = environ
        while let text = entry.pointee {
            let parts = String(cString: text).split(separator: "=", maxSplits: 1)
            if let name = parts.first { variables[String(name)] = parts.dropFirst().joined() }
            entry += 1
        }
        return variables
    }
}

/// Whether a program is installed, for tests that need more than the build does.
///
/// - Parameter name: Its name, looked for in `PATH` and the system's folders.
/// - Returns: Whether it is there and can be run.
public func isInstalled(_ name: String) -> Bool {
    let path = getenv("PATH").map { String(cString: $0) } ?? ""
    // As strings: a sum of pieces and literals is an array of arrays of characters.
    let folders = path.split(separator: ":").map(String.init) + ["/usr/sbin", "/sbin"]
    return folders.contains { access("\($0)/\(name)", X_OK) == 0 }
}
