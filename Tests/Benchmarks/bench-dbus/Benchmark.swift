// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import TestKit

/// One run: two services on one bus, measured in turn.
@LoopActor struct Benchmark {
    /// The folder that holds `bench/floor.c`.
    let shared: String

    private static let lifetime = Duration.seconds(900)

    /// How much is measured.
    private enum Extent {
        static let callsPerRound = 50_000
        static let callRounds = 9
        static let window = 64
        static let clients = 1000
        static let linesPerRound = 40
        static let signalRounds = 9
        static let warmUpCalls = 100_000
        static let allCalls = 1_000_000
    }

    /// Measures and prints.
    ///
    /// - Returns: Whether all targets are met.
    /// - Throws: If something cannot be started, or does not answer.
    func run() async throws -> Bool {
        let folder = try TemporaryFolder()
        let bus = try await PrivateBus.start(
            limits: ["max_incoming_bytes": 1_000_000_000, "max_outgoing_bytes": 1_000_000_000],
            lifetime: Self.lifetime
        )
        let floor = try await FloorProgram.compile(in: shared, to: folder)
        try await printSetup(floor)
        var rows = try await memoryRows(on: bus, folder)
        let wrapper = try await startWrapper(on: bus, folder)
        var reference: MeasuredService?
        if case .compiled(let program) = floor {
            reference = try await MeasuredService.start(
                program,
                as: "org.freedesktop.GeoClue2",
                on: bus,
                feed: "\(folder.path)/floor.feed",
                lifetime: Self.lifetime
            )
        }
        rows = try callRows(wrapper, reference) + signalRows(wrapper, reference) + rows
        Table(rows: rows).print()
        if case .missing(let reason) = floor { print("\nskipped: \(reason)") }
        return rows.allSatisfy { $0.verdict != .missed }
    }

    private func startWrapper(
        on bus: PrivateBus,
        _ folder: TemporaryFolder
    ) async throws -> MeasuredService {
        try await MeasuredService.start(
            try builtProgram("bench-dbus-service"),
            as: "org.waymark.Benchmark",
            passesName: true,
            on: bus,
            feed: "\(folder.path)/wrapper.feed",
            lifetime: Self.lifetime
        )
    }

    private func printSetup(_ floor: FloorProgram) async throws {
        let daemon = try await firstLine(of: "dbus-daemon", "--version")
        let compiler = try await firstLine(of: "cc", "--version")
        print(
            """
            The wrapper of Sources/DBus beside a service in C over the same libdbus (floor.c)

            printed by    make bench SHARED=\(shared)
            bus           \(daemon), private, nobody else on it
            libdbus       \(RawClient.libraryVersion)
            floor.c       \(floor.isMissing ? "not there" : "\(compiler), -O2")
            wrapper       release, Swift's libraries inside
            processors    \(sysconf(CInt(_SC_NPROCESSORS_ONLN)))
            calls         Properties.Get of a boolean, \(Extent.window) in flight,
                          \(Extent.callRounds) rounds of \(grouped(Extent.callsPerRound)) each, in turn
            signals       LocationUpdated(oo) to \(grouped(Extent.clients)) clients of one connection,
                          \(Extent.signalRounds) rounds of \(Extent.linesPerRound) each, in turn

            """
        )
        // The rest takes a while.
        fflush(nil)
    }

    private func firstLine(of program: String, _ argument: String) async throws -> String {
        let process = try ChildProcess(program, [argument])
        try await process.waitForExit()
        return process.output.split(separator: "\n").first.map(String.init) ?? "?"
    }

    // MARK: Calls

    private func callRows(
        _ wrapper: MeasuredService,
        _ reference: MeasuredService?
    ) throws -> [Row] {
        for service in [wrapper, reference].compactMap(\.self) {
            _ = try service.measureCalls(Extent.warmUpCalls / 5, window: Extent.window)
        }
        var sides = Sides()
        for _ in 0..<Extent.callRounds {
            try sides.measure(wrapper, reference) {
                try $0.measureCalls(Extent.callsPerRound, window: Extent.window)
            }
        }
        let calls = Double(Extent.callsPerRound)
        return [
            Row("calls/s", sides, digits: 0, target: .atLeast(0.7)) { calls / $0.seconds },
            Row("service CPU per call, µs", sides, digits: 2, target: .atMost(1.5)) {
                $0.processor / calls * 1e6
            },
        ]
    }

    // MARK: Signals

    private func signalRows(
        _ wrapper: MeasuredService,
        _ reference: MeasuredService?
    ) throws -> [Row] {
        for service in [wrapper, reference].compactMap(\.self) {
            try service.addClients(Extent.clients)
            _ = try service.measureSignals(Extent.linesPerRound / 4, clients: Extent.clients)
        }
        var sides = Sides()
        for _ in 0..<Extent.signalRounds {
            try sides.measure(wrapper, reference) {
                try $0.measureSignals(Extent.linesPerRound, clients: Extent.clients)
            }
        }
        let signals = Double(Extent.linesPerRound)
        let copies = signals * Double(Extent.clients)
        return [
            Row("service CPU per copy of a signal, µs", sides, digits: 2, target: .atMost(1.3)) {
                $0.processor / copies * 1e6
            },
            Row("until all have a signal, ms", sides, digits: 2, target: .atMost(1.3)) {
                $0.seconds / signals * 1e3
            },
        ]
    }

    // MARK: Memory

    private func memoryRows(on bus: PrivateBus, _ folder: TemporaryFolder) async throws -> [Row] {
        let service = try await startWrapper(on: bus, folder)
        let before = try service.memory()
        _ = try service.measureCalls(Extent.warmUpCalls, window: Extent.window)
        let warm = try service.memory()
        _ = try service.measureCalls(Extent.allCalls - Extent.warmUpCalls, window: Extent.window)
        let after = try service.memory()
        try await service.stop()
        return [
            Row(memory: "RSS", before.resident, warm.resident, after.resident),
            Row(memory: "private", before.own, warm.own, after.own),
        ]
    }
}
