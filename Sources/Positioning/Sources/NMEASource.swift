// SPDX-License-Identifier: Apache-2.0

internal import EventLoop
internal import Geo
internal import NMEA

/// A receiver whose sentences of NMEA 0183 come from a server: a Unix socket or a TCP port.
@LoopActor final class NMEASource: LocationSource {
    let name: String
    let bestAccuracyMetres = 5.0
    private let client: StreamClient
    private let clock: any Timekeeper
    private var receiver: (@LoopActor (SourceEvent) -> Void)?
    private var reader = SentenceReader()
    private var assembler = FixAssembler()
    private var silence: Timer?

    /// How long after the last bytes an epoch counts as complete.
    ///
    /// Receivers send an epoch in one burst; the assembler learns its last sentence, so that this
    /// matters for the first one only.
    private static let silenceLimit = Duration.milliseconds(100)

    init(
        name: String,
        endpoint: StreamEndpoint,
        clock: any Timekeeper,
        log: @escaping SourceLog
    ) {
        self.name = name
        self.clock = clock
        client = StreamClient(source: name, endpoint: endpoint, clock: clock, log: log)
    }

    func start(_ receiver: @escaping @LoopActor (SourceEvent) -> Void) {
        self.receiver = receiver
        client.start { [weak self] event in self?.handle(event) }
    }

    func stop() {
        receiver = nil
        client.stop()
        forget()
    }

    private func handle(_ event: StreamClient.Event) {
        switch event {
        case .opened: forget()
        case .bytes(let bytes): read(bytes)
        case .lost(let reason):
            flush()
            forget()
            receiver?(.unavailable(reason: reason))
        }
    }

    private func read(_ bytes: ArraySlice<UInt8>) {
        let arrival = Timestamp(microseconds: clock.microsecondsSinceEpoch)
        var fixes: [Fix] = []
        reader.append(bytes) { sentence in
            assembler.add(sentence, arrivedAt: arrival) { fixes.append($0) }
        }
        // Told only now: who hears of a fix may stop this source, which begins reading anew.
        for fix in fixes { receiver?(.fix(fix)) }
        silence?.cancel()
        silence = nil
        if assembler.hasPendingFix {
            silence = clock.schedule(after: Self.silenceLimit) { [weak self] in self?.flush() }
        }
    }

    private func flush() {
        if let fix = assembler.flush() { receiver?(.fix(fix)) }
    }

    /// What one connection has said does not count for the next.
    private func forget() {
        silence?.cancel()
        silence = nil
        reader = SentenceReader()
        assembler = FixAssembler()
    }
}
