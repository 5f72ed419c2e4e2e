// SPDX-License-Identifier: Apache-2.0

internal import EventLoop
internal import Geo

/// A receiver behind gpsd.
///
/// libgps would block while it connects, so that the socket is the service's own; libgps reads the
/// reports. While nobody wants fixes there is no connection, and gpsd lets the receiver sleep.
@LoopActor final class GpsdSource: LocationSource {
    let name: String
    let bestAccuracyMetres = 5.0
    private let client: PersistentLink
    private let clock: any Timekeeper
    private let reader = GpsdReportReader()
    private var receiver: (@LoopActor (SourceEvent) -> Void)?
    private var lines = LineBuffer(limit: GpsdSource.longestLine)
    private var hasDevices = true

    /// Counts the starts: who is told something may stop this source and start it again, and what
    /// was about to be told belongs to the past then.
    private var run = 0

    private static let longestLine = 65_536
    private static let watchRequest = #"?WATCH={"enable":true,"json":true};"# + "\n"
    private static let endRequest = #"?WATCH={"enable":false};"# + "\n"

    init(
        name: String,
        endpoint: StreamEndpoint,
        clock: any Timekeeper,
        log: @escaping SourceLog
    ) {
        self.name = name
        self.clock = clock
        client = PersistentLink(source: name, endpoint: endpoint, clock: clock, log: log)
    }

    func start(_ receiver: @escaping @LoopActor (SourceEvent) -> Void) {
        self.receiver = receiver
        run += 1
        hasDevices = true
        client.start { [weak self] event in self?.handle(event) }
    }

    func stop() {
        receiver = nil
        // Closing alone would do; saying so first lets gpsd switch the receiver off at once.
        client.send(Self.endRequest)
        client.stop()
    }

    private func handle(_ event: PersistentLink.Event) {
        switch event {
        case .opened:
            // What one connection has said does not count for the next.
            lines = LineBuffer(limit: Self.longestLine)
            client.send(Self.watchRequest)
        case .bytes(let bytes):
            let arrival = Timestamp(microseconds: clock.microsecondsSinceEpoch)
            var reports: [GpsdReport] = []
            lines.append(bytes) { reports.append(reader.read($0, arrivedAt: arrival)) }
            // Handled only now: who hears of a fix may stop this source, which begins anew.
            let current = run
            for report in reports where run == current { handle(report) }
        case .datagram: break
        case .lost(let reason): receiver?(.unavailable(reason: reason))
        }
    }

    private func handle(_ report: GpsdReport) {
        switch report {
        case .fix(let fix):
            hasDevices = true
            receiver?(.fix(fix))
        case .deviceCount(let count):
            hasDevices = count > 0
            receiver?(hasDevices ? .available : .unavailable(reason: "gpsd has no receiver"))
        case .device(isActive: true):
            // A receiver that comes back is not always watched again by itself.
            if !hasDevices { client.send(Self.watchRequest) }
            hasDevices = true
            receiver?(.available)
        case .device(isActive: false):
            // The answer tells whether another receiver is left.
            client.send("?DEVICES;\n")
        case .other: break
        }
    }
}

/// Bytes cut into lines; a line over the limit is passed over.
struct LineBuffer {
    private let limit: Int
    private var partial: [UInt8] = []
    private var isOverlong = false

    init(limit: Int) {
        self.limit = limit
    }

    /// Takes bytes and passes on each line that they complete, without its end.
    mutating func append(_ bytes: ArraySlice<UInt8>, _ body: (ArraySlice<UInt8>) -> Void) {
        var rest = bytes
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            keep(rest[..<end])
            if !isOverlong {
                body(partial.last == UInt8(ascii: "\r") ? partial.dropLast() : partial[...])
            }
            partial.removeAll(keepingCapacity: true)
            isOverlong = false
            rest = rest[(end + 1)...]
        }
        keep(rest)
    }

    private mutating func keep(_ bytes: ArraySlice<UInt8>) {
        guard !isOverlong, partial.count + bytes.count <= limit else {
            isOverlong = true
            partial.removeAll()
            return
        }
        partial += bytes
    }
}
