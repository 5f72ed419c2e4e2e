// SPDX-License-Identifier: Apache-2.0

public import Geo

/// Makes one fix of all sentences that a receiver sends about one instant, its epoch.
///
/// The sentences come in any order, and a receiver may send only GGA or only RMC. Nothing is
/// carried from one epoch to the next but the date: a fix holds what was said about its instant.
///
/// **When a fix is handed out.** Right with the sentence that ends the epoch, once it is known
/// which type that is: the assembler watches which one comes last. Until then, and when that
/// sentence is missing, with the first sentence of the next epoch, or when the owner calls
/// ``flush()`` because the receiver has been silent for a moment. There is exactly one fix for
/// an epoch; what arrives after it changes only what has been learned about the order.
///
/// **When there is none.** If one sentence of an epoch has a position and another says that there
/// is none (RMC `V` beside GGA quality 1, or the reverse), the receiver does not stand behind it.
public struct FixAssembler: Sendable {
    /// What the fixes name as their source.
    public let source: String

    private var epoch: Epoch?
    private var calendar = ReceiverCalendar()
    private var order = SentenceOrder()

    /// Makes an assembler for one receiver.
    ///
    /// - Parameter source: What the fixes name as their source.
    public init(source: String = "nmea") {
        self.source = source
    }

    /// Whether there is a fix that waits for more sentences; ``flush()`` would hand it out.
    public var hasPendingFix: Bool {
        guard let epoch else { return false }
        return !epoch.isEmitted && epoch.coordinate != nil
    }

    /// Adds the next sentence of the receiver.
    ///
    /// - Parameters:
    ///   - sentence: The sentence, in the order of arrival.
    ///   - arrivedAt: When it arrived; the time of a fix until the receiver tells a date.
    ///   - body: Called for the fix of the epoch before, the fix of this one, both or none.
    public mutating func add(
        _ sentence: Sentence,
        arrivedAt: Timestamp,
        _ body: (Fix) -> Void
    ) {
        switch sentence {
        case .gga(let gga):
            open(.gga, at: gga.timeOfDay, arrivedAt: arrivedAt, body)
            epoch?.add(gga)
            if order.endsEpoch(.gga) { emit(body) }
        case .rmc(let rmc):
            open(.rmc, at: rmc.timeOfDay, arrivedAt: arrivedAt, body)
            epoch?.add(rmc)
            // Before it has a fix a receiver tells what its battery remembers.
            if !rmc.isVoid, let date = rmc.date, let timeOfDay = rmc.timeOfDay {
                calendar.tell(date: date, at: timeOfDay)
            }
            if order.endsEpoch(.rmc) { emit(body) }
        case .zda(let zda):
            calendar.tell(date: zda.date, at: zda.timeOfDay)
        }
    }

    /// Hands out the fix that waits for more sentences.
    ///
    /// To be called when the receiver has been silent for about a tenth of a second while
    /// ``hasPendingFix``, and at the end of the input.
    ///
    /// - Returns: The fix, `nil` if none waits.
    public mutating func flush() -> Fix? {
        var fix: Fix?
        emit { fix = $0 }
        return fix
    }

    /// Makes sure that the current epoch is the one of a sentence.
    private mutating func open(
        _ part: Epoch.Part,
        at timeOfDay: Int64?,
        arrivedAt: Timestamp,
        _ body: (Fix) -> Void
    ) {
        if let epoch {
            if epoch.holds(part, timeOfDay: timeOfDay) { return }
            emit(body)
            order.learn(from: epoch)
        }
        epoch = Epoch(arrivedAt: arrivedAt)
    }

    /// Hands out the fix of the current epoch, if it has one and has not done so.
    private mutating func emit(_ body: (Fix) -> Void) {
        guard hasPendingFix, let epoch else { return }
        let instant = epoch.timeOfDay.flatMap { calendar.instant(at: $0) }
        guard let fix = epoch.fix(source: source, at: instant) else { return }
        self.epoch?.isEmitted = true
        body(fix)
    }
}
