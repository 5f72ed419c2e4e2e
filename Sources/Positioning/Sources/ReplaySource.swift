// SPDX-License-Identifier: Apache-2.0

internal import EventLoop
internal import Geo
private import Glibc
internal import NMEA

/// A recording of NMEA 0183, played epoch by epoch at a multiple of the speed at which it was made.
@LoopActor final class ReplaySource: LocationSource {
    let name: String
    let bestAccuracyMetres = 5.0
    private let path: String
    private let speed: Double
    private let loops: Bool
    private let clock: any Timekeeper
    private let log: SourceLog
    private var receiver: (@LoopActor (SourceEvent) -> Void)?
    private var recording: Recording?
    private var assembler = FixAssembler()
    private var timer: Timer?
    private var backOff = BackOff()
    private var hasToldFailure = false

    /// The time of day of the epoch that is being played, in microseconds.
    private var epoch: Int64?
    /// The first sentence of the next epoch, read but not yet due.
    private var upcoming: Sentence?
    /// When the next epoch is due: pauses are counted from there, so that they do not add up.
    private var due = ContinuousClock.Instant.now

    /// Counts the starts and stops: who is told something may do either, and what was about to be
    /// played belongs to the past then.
    private var run = 0

    init(
        name: String,
        path: String,
        speed: Double,
        loops: Bool,
        clock: any Timekeeper,
        log: @escaping SourceLog
    ) {
        self.name = name
        self.path = path
        self.speed = speed
        self.loops = loops
        self.clock = clock
        self.log = log
    }

    func start(_ receiver: @escaping @LoopActor (SourceEvent) -> Void) {
        self.receiver = receiver
        run += 1
        backOff.reset()
        hasToldFailure = false
        timer = clock.schedule(after: .zero) { [weak self] in self?.begin() }
    }

    func stop() {
        receiver = nil
        run += 1
        timer?.cancel()
        timer = nil
        recording = nil
        upcoming = nil
    }

    private func begin() {
        do {
            recording = try Recording(path: path)
        } catch {
            fail("\(error)")
            return
        }
        due = clock.now
        playFromBeginning()
    }

    private func playFromBeginning() {
        assembler = FixAssembler()
        epoch = nil
        upcoming = nil
        play()
    }

    /// Plays what is due and arranges for the next epoch.
    private func play() {
        timer = nil
        let current = run
        do {
            // A recording that never tells the time is no reason to keep the loop from its work.
            for _ in 0..<1000 {
                guard let sentence = try nextSentence() else {
                    try end()
                    return
                }
                if let time = sentence.timeOfDay, let epoch, time != epoch {
                    self.epoch = time
                    upcoming = sentence
                    tell(assembler.flush())
                    guard run == current else { return }
                    wait(pause(from: epoch, to: time)) { $0.play() }
                    return
                }
                epoch = sentence.timeOfDay ?? epoch
                var fixes: [Fix] = []
                assembler.add(sentence, arrivedAt: now) { fixes.append($0) }
                for fix in fixes where run == current { tell(fix) }
                guard run == current else { return }
            }
        } catch {
            fail("\(error)")
            return
        }
        timer = clock.schedule(after: .zero) { [weak self] in self?.play() }
    }

    private func nextSentence() throws -> Sentence? {
        if let sentence = upcoming {
            upcoming = nil
            return sentence
        }
        guard let sentence = try recording?.next() else { return nil }
        backOff.reset()
        if hasToldFailure {
            hasToldFailure = false
            log("source \(name): \(path) is back")
        }
        return sentence
    }

    /// The end of the file: the end of it all, or a second's pause before it begins anew.
    private func end() throws {
        let current = run
        tell(assembler.flush())
        guard run == current, let recording else { return }
        if loops, recording.hasSentences {
            try recording.rewind()
            wait(.microseconds(1_000_000 / speed)) { $0.playFromBeginning() }
            return
        }
        let reason =
            recording.hasSentences
            ? "the end of \(path) was reached"
            : "\(path) holds no sentence that tells a position or time"
        self.recording = nil
        log("source \(name): \(reason)")
        receiver?(.unavailable(reason: reason))
    }

    private func wait(
        _ pause: Duration,
        _ action: @escaping @LoopActor (ReplaySource) -> Void
    ) {
        due = due.advanced(by: pause)
        timer = clock.schedule(at: due) { [weak self] in
            if let self { action(self) }
        }
    }

    /// The time between two epochs as it is played.
    ///
    /// A gap is cut short, and a recording whose time goes back, as one that begins anew does, goes
    /// on after a second.
    private func pause(from epoch: Int64, to next: Int64) -> Duration {
        var gap = next - epoch
        if gap < -Timestamp.microsecondsPerDay / 2 { gap += Timestamp.microsecondsPerDay }
        let played = gap <= 0 ? 1_000_000 : min(gap, 10_000_000)
        return .microseconds(Double(played) / speed)
    }

    private func fail(_ reason: String) {
        recording = nil
        if !hasToldFailure {
            hasToldFailure = true
            log("source \(name): \(reason); trying again")
        }
        timer = clock.schedule(after: backOff.next()) { [weak self] in self?.begin() }
        receiver?(.unavailable(reason: reason))
    }

    private func tell(_ fix: Fix?) {
        guard var fix else { return }
        fix.isSimulated = true
        receiver?(.fix(fix))
    }

    private var now: Timestamp { Timestamp(microseconds: clock.microsecondsSinceEpoch) }
}

/// The sentences of a file, read piece by piece.
@LoopActor private final class Recording {
    private let file: Descriptor
    private let path: String
    private var reader = SentenceReader()
    private var sentences: ArraySlice<Sentence> = []
    private var buffer = [UInt8](repeating: 0, count: 8192)

    /// Whether there has been a sentence that tells a position or time.
    private(set) var hasSentences = false

    init(path: String) throws {
        self.path = path
        file = try Descriptor("open \(path)") { open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        var status = stat()
        // A pipe or a device would block, or never end.
        guard fstat(file.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw SystemError(code: EINVAL, operation: "play \(path), which is no regular file")
        }
    }

    /// The next sentence, `nil` at the end.
    func next() throws -> Sentence? {
        while sentences.isEmpty {
            let count = try retryingOnInterrupt("read \(path)") {
                read(file.number, &buffer, buffer.count)
            }
            var found: [Sentence] = []
            if count > 0 {
                reader.append(buffer[..<count]) { found.append($0) }
            } else {
                reader.endLine { found.append($0) }
                if found.isEmpty { return nil }
            }
            sentences = found[...]
        }
        let sentence = sentences.removeFirst()
        switch sentence {
        case .gsa, .gsv, .vtg, .heading: break
        default: hasSentences = true
        }
        return sentence
    }

    /// Goes back to the beginning.
    func rewind() throws {
        try retryingOnInterrupt("read \(path) again") { lseek(file.number, 0, SEEK_SET) }
        reader = SentenceReader()
    }
}
