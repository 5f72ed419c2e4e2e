// SPDX-License-Identifier: Apache-2.0

internal import EventLoop
internal import Geo
internal import NMEA

/// A receiver whose sentences of NMEA 0183 come over a link: a stream, or datagrams.
///
/// Whoever sends datagrams is a receiver of its own: a sentence of one never goes on in a datagram
/// of another, and no fix is made of what two have said. Of several one is followed, by the rule
/// that holds among sources.
@LoopActor final class NMEASource: LocationSource {
    let name: String
    let bestAccuracyMetres = 5.0
    private let link: PersistentLink
    private let clock: any Timekeeper
    private var receiver: (@LoopActor (SourceEvent) -> Void)?

    /// Who talks; in a stream there is one, without an address.
    private var talkers: [SocketAddress?: Talker] = [:]
    private var talkerCount = 0
    private var selector = FixSelector()
    private var silence: Timer?

    /// Counts the starts: who is told something may stop this source and start it again, and what
    /// was about to be told belongs to the past then.
    private var run = 0

    /// How long after the last bytes an epoch counts as complete.
    ///
    /// Receivers send an epoch in one burst; the assembler learns its last sentence, so that this
    /// matters for the first one only.
    private static let silenceLimit = Duration.milliseconds(100)

    /// The most senders of datagrams that are kept apart; beyond, the one that has been silent for
    /// longest is forgotten.
    static let mostTalkers = 8

    /// Makes a source.
    ///
    /// - Parameters:
    ///   - name: Its name for messages.
    ///   - link: Where the sentences come from.
    ///   - clock: The time.
    init(name: String, link: PersistentLink, clock: any Timekeeper) {
        self.name = name
        self.link = link
        self.clock = clock
    }

    func start(_ receiver: @escaping @LoopActor (SourceEvent) -> Void) {
        self.receiver = receiver
        run += 1
        link.start { [weak self] event in self?.handle(event) }
    }

    func stop() {
        receiver = nil
        link.stop()
        forget()
    }

    private func handle(_ event: PersistentLink.Event) {
        switch event {
        case .opened: forget()
        case .bytes(let bytes): read(bytes, from: nil)
        case .datagram(let bytes, let sender): read(bytes, from: sender)
        case .lost(let reason):
            let current = run
            flush()
            guard run == current else { return }
            forget()
            receiver?(.unavailable(reason: reason))
        }
    }

    private func read(_ bytes: ArraySlice<UInt8>, from sender: SocketAddress?) {
        let arrival = Timestamp(microseconds: clock.microsecondsSinceEpoch)
        // Taken out of the table while it is changed, so that nothing is copied.
        var talker = talkers.removeValue(forKey: sender) ?? makeTalker()
        talker.heardAt = clock.now
        let fixes = talker.read(bytes, isDatagram: sender != nil, arrivedAt: arrival)
        let id = talker.id
        talkers[sender] = talker
        // Told only now: who hears of a fix may stop this source, which begins reading anew.
        let current = run
        for fix in fixes where run == current { tell(fix, from: sender, id) }
        guard run == current else { return }
        silence?.cancel()
        silence = nil
        if talkers.values.contains(where: \.assembler.hasPendingFix) {
            silence = clock.schedule(after: Self.silenceLimit) { [weak self] in self?.flush() }
        }
    }

    private func flush() {
        let current = run
        for sender in talkers.keys where run == current {
            guard let fix = talkers[sender]?.assembler.flush(), let id = talkers[sender]?.id else {
                continue
            }
            tell(fix, from: sender, id)
        }
    }

    private func tell(_ fix: Fix, from sender: SocketAddress?, _ talker: Int) {
        guard sender == nil || selector.accepts(fix, from: talker, at: clock.now) else { return }
        receiver?(.fix(fix))
    }

    private func makeTalker() -> Talker {
        if talkers.count >= Self.mostTalkers,
            let oldest = talkers.min(by: { $0.value.heardAt < $1.value.heardAt })
        {
            talkers[oldest.key] = nil
            selector.drop(oldest.value.id)
        }
        talkerCount += 1
        return Talker(id: talkerCount, heardAt: clock.now)
    }

    /// What one link has said does not count for the next.
    private func forget() {
        silence?.cancel()
        silence = nil
        talkers = [:]
        selector = FixSelector()
    }
}

/// One receiver: its bytes on their way into fixes.
private struct Talker {
    let id: Int
    var heardAt: ContinuousClock.Instant
    var reader = SentenceReader()
    var assembler = FixAssembler()

    init(id: Int, heardAt: ContinuousClock.Instant) {
        self.id = id
        self.heardAt = heardAt
    }

    mutating func read(
        _ bytes: ArraySlice<UInt8>,
        isDatagram: Bool,
        arrivedAt arrival: Timestamp
    ) -> [Fix] {
        var sentences: [Sentence] = []
        reader.append(bytes) { sentences.append($0) }
        if isDatagram, bytes.endsWithChecksum { reader.endLine { sentences.append($0) } }
        var fixes: [Fix] = []
        for sentence in sentences {
            assembler.add(sentence, arrivedAt: arrival) { fixes.append($0) }
        }
        return fixes
    }
}

extension ArraySlice<UInt8> {
    /// Whether the last three bytes are `*` and two hexadecimal digits.
    ///
    /// A datagram that ends so ends a sentence: many senders leave the line's end out.
    fileprivate var endsWithChecksum: Bool {
        count >= 3 && self[endIndex - 3] == UInt8(ascii: "*")
            && suffix(2).allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
    }
}
