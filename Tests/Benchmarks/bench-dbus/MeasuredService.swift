// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import TestKit

/// What a round has taken.
struct Round {
    /// From the first message to the last one.
    var seconds: Double
    /// Processor time of the service, in seconds.
    var processor: Double
}

/// One of the services, as a process of its own, and who calls it.
@LoopActor final class MeasuredService {
    private let process: ChildProcess
    private let feed: LineServer
    private let client: RawClient

    /// Starts a service and waits until it has its name.
    ///
    /// - Parameters:
    ///   - program: Its path.
    ///   - name: The name that it takes.
    ///   - passesName: Whether it has to be told its name.
    ///   - bus: The bus that it serves.
    ///   - path: Where the socket is from which it gets lines.
    ///   - lifetime: It is killed if it runs longer.
    /// - Returns: A service that answers calls.
    /// - Throws: If it does not come up.
    static func start(
        _ program: String,
        as name: String,
        passesName: Bool = false,
        on bus: PrivateBus,
        feed path: String,
        lifetime: Duration
    ) async throws -> MeasuredService {
        let feed = try LineServer(.unix(path))
        let process = try ChildProcess(
            program,
            (passesName ? [name] : []) + [path],
            environment: bus.environment,
            lifetime: lifetime
        )
        let client = try RawClient(bus.address, for: name)
        try await eventually("an owner of \(name)") {
            guard process.exit == nil else { throw BenchmarkError(process.output) }
            return client.isServiceThere
        }
        _ = try await feed.connections.next("the service at its feed")
        return MeasuredService(process, feed, client)
    }

    private init(_ process: ChildProcess, _ feed: LineServer, _ client: RawClient) {
        self.process = process
        self.feed = feed
        self.client = client
    }

    /// Ends it and waits until it is gone.
    func stop() async throws {
        try await process.stop()
    }

    /// Makes calls, so many at a time.
    func measureCalls(_ count: Int, window: Int) throws -> Round {
        try measure { try client.fetchProperty(count, window: window) }
    }

    /// Makes clients of it, all of one connection.
    func addClients(_ count: Int) throws {
        try client.addClients(count)
    }

    /// Gives it lines, each of which it tells to all of its clients.
    func measureSignals(_ lines: Int, clients: Int) throws -> Round {
        let line = "$GPGGA,120000.00,4812.5000000,N,01622.2000000,E,1,08,0.9,170.0,M,0.0,M,,*68\r\n"
        return try measure {
            for _ in 0..<lines {
                feed.send(line)
                try client.awaitSignals(clients)
            }
        }
    }

    private func measure(_ body: () throws -> Void) throws -> Round {
        let processor = try processorTime()
        let start = ContinuousClock.now
        try body()
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        // What it does behind its last message is part of the price.
        usleep(20_000)
        return Round(seconds: seconds, processor: try processorTime() - processor)
    }

    // MARK: What the kernel tells

    /// The processor time of all threads, in seconds.
    private func processorTime() throws -> Double {
        let tasks = "/proc/\(process.id)/task"
        guard let folder = opendir(tasks) else { throw BenchmarkError("the service has ended") }
        defer { closedir(folder) }
        var nanoseconds = 0.0
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name.first?.isNumber == true else { continue }
            let numbers = try readFile("\(tasks)/\(name)/schedstat").split(separator: " ")
            nanoseconds += numbers.first.flatMap { Double($0) } ?? 0
        }
        return nanoseconds / 1e9
    }

    /// How much memory it has, in kB: all that is in memory, and what is its own of that.
    func memory() throws -> (resident: Int, own: Int) {
        let rollup = try readFile("/proc/\(process.id)/smaps_rollup")
        func sum(_ keys: String...) -> Int {
            rollup.split(separator: "\n").reduce(0) { sum, line in
                let words = line.split(separator: " ")
                guard words.count == 3, keys.contains("\(words[0])") else { return sum }
                return sum + (Int(words[1]) ?? 0)
            }
        }
        return (sum("Rss:"), sum("Private_Clean:", "Private_Dirty:"))
    }
}
