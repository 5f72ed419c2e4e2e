// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Geo
import Positioning
import TestKit

/// A source under test, what it tells and what it logs.
@LoopActor final class SourceRig {
    let clock = ManualTimekeeper()
    let events = Mailbox<SourceEvent>()
    let source: any LocationSource
    private let record = LogRecord()
    var log: [String] { record.lines }

    /// Called with each event after it has been put into the mailbox.
    var onEvent: (@LoopActor (SourceEvent) -> Void)?

    init(_ address: SourceAddress) {
        let source = address.makeSource(named: "receiver", clock: clock) { [record] in
            record.lines.append($0)
        }
        guard let source else { preconditionFailure("\(address) needs a bus") }
        self.source = source
    }

    isolated deinit {
        source.stop()
    }

    func start() {
        source.start { [weak self] event in
            self?.events.append(event)
            self?.onEvent?(event)
        }
    }

    /// Waits for the next event, which must be a fix.
    func fix() async throws -> Fix {
        let event = try await events.next("a fix")
        guard case .fix(let fix) = event else { throw DeadlinePassed("a fix; there is \(event)") }
        return fix
    }

    /// Waits for the next event, which must be that there is nothing to be had.
    @discardableResult
    func unavailable() async throws -> String {
        let event = try await events.next("an end")
        guard case .unavailable(let reason) = event else {
            throw DeadlinePassed("unavailability; there is \(event)")
        }
        return reason
    }
}

/// Lines that a source has logged.
@LoopActor private final class LogRecord {
    nonisolated init() {}
    var lines: [String] = []
}

/// Lets the event loop take a number of turns, in which everything that is ready is done.
@LoopActor func turns(_ count: Int = 20) async {
    for _ in 0..<count {
        await withCheckedContinuation { continuation in
            EventLoop.shared.perform { continuation.resume() }
        }
    }
}

/// The states of this host's TCP sockets that are connected, or about to be, to a port.
func socketStates(toPort port: UInt16) throws -> [String] {
    try socketStates(port, column: 2)
}

/// The states of this host's TCP sockets that have a port themselves.
func socketStates(fromPort port: UInt16) throws -> [String] {
    try socketStates(port, column: 1)
}

private func socketStates(_ port: UInt16, column: Int) throws -> [String] {
    let hex = String(port, radix: 16, uppercase: true)
    let suffix = ":" + String(repeating: "0", count: 4 - hex.count) + hex
    // A server on all addresses has the connections of IPv4 in the other table.
    let tables = try readFile("/proc/net/tcp") + readFile("/proc/net/tcp6")
    return tables.split(separator: "\n").compactMap { line in
        let words = line.split(separator: " ")
        guard words.count > 3, words[column].hasSuffix(suffix) else { return nil }
        return String(words[3])
    }
}
