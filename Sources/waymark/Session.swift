// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import Geo
import Glibc
import Interfaces
import LocationClient

/// What the tool is asked to do.
enum Command: String {
    case monitor
    case `where`
    case authorization
}

/// One run of the tool.
@LoopActor final class Session {
    private let command: Command
    private let bus: Connection.Bus
    private var client: LocationClient?
    private var signals: SignalWatch?

    /// The process's exit status.
    private(set) var status: Int32 = EXIT_SUCCESS

    nonisolated init(_ command: Command, _ bus: Connection.Bus) {
        self.command = command
        self.bus = bus
    }

    /// Does what it is asked to do, and stops the event loop when that is done.
    func run() async {
        do {
            signals = try SignalWatch([SIGINT, SIGTERM]) { _ in EventLoop.shared.stop() }
            let client = try await LocationClient.connect(to: bus)
            self.client = client
            client.onDisconnect { [weak self] in self?.fail("the bus has gone") }
            switch command {
            case .authorization: show(try await client.authorization())
            case .where: show(Self.text(try await client.location()))
            case .monitor:
                try await monitor(client)
                return
            }
            EventLoop.shared.stop()
        } catch let error as DBusError {
            fail(error.message)
        } catch {
            fail("\(error)")
        }
    }

    private func monitor(_ client: LocationClient) async throws {
        do {
            try await client.start { [weak self] event in self?.handle(event) }
        } catch let error as DBusError where error.name == .serviceUnknown {
            show("the location service is not running: waiting for it")
        }
    }

    private func handle(_ event: LocationClient.Event) {
        switch event {
        case .authorization(let status, let accuracy): show("authorization \(status) (\(accuracy))")
        case .location(let location): show(Self.text(location))
        case .failure(let code, let message): show("\(code): \(message)")
        case .service(let isRunning):
            show(isRunning ? "the service is back" : "the service has ended")
        }
    }

    private static func text(_ location: LocationDictionary) -> String {
        let fix = location.fix
        var words = [
            time(fix.timestamp),
            "\(degrees(fix.coordinate.latitude)) \(degrees(fix.coordinate.longitude))",
            "±\(decimal(fix.horizontalAccuracy)) m",
        ]
        if let altitude = fix.altitude { words.append("\(decimal(altitude)) m above the sea") }
        if let speed = fix.speed { words.append("\(decimal(speed)) m/s") }
        if let course = fix.course { words.append("course \(decimal(course))°") }
        words.append(fix.source)
        if fix.isSimulated { words.append("simulated") }
        if location.isCached { words.append("cached") }
        return words.joined(separator: "  ")
    }

    /// Civil time in UTC, to the tenth of a second.
    private static func time(_ timestamp: Timestamp) -> String {
        var seconds = time_t(timestamp.microseconds / 1_000_000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        var text = [CChar](repeating: 0, count: 32)
        strftime(&text, text.count, "%Y-%m-%d %H:%M:%S", &parts)
        let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        let tenth = timestamp.microseconds % 1_000_000 / 100_000
        return String(decoding: bytes, as: UTF8.self) + ".\(tenth)Z"
    }

    private static func degrees(_ value: Double) -> String { rounded(value, 1_000_000, digits: 6) }

    private static func decimal(_ value: Double) -> String { rounded(value, 10, digits: 1) }

    private static func rounded(_ value: Double, _ factor: Int, digits: Int) -> String {
        // What does not fit is shown as Swift does: a source may claim anything.
        guard value.magnitude < 1e12 else { return "\(value)" }
        let scaled = Int((value.magnitude * Double(factor)).rounded())
        let fraction = String(scaled % factor)
        let zeros = String(repeating: "0", count: digits - fraction.count)
        return "\(value < 0 && scaled > 0 ? "-" : "")\(scaled / factor).\(zeros)\(fraction)"
    }

    private func show(_ line: String) {
        if !writeText(line + "\n", to: STDOUT_FILENO) { fail("standard output cannot be written") }
    }

    private func fail(_ message: String) {
        writeText("waymark: \(message)\n", to: STDERR_FILENO)
        status = EXIT_FAILURE
        EventLoop.shared.stop()
    }
}
