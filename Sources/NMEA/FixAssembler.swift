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

    /// Errors of an epoch whose position is still to come.
    private var upcoming: (gst: GST?, gbs: GBS?)

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
            close(.gga, body)
        case .rmc(let rmc):
            open(.rmc, at: rmc.timeOfDay, arrivedAt: arrivedAt, body)
            epoch?.add(rmc)
            // Before it has a fix a receiver tells what its battery remembers.
            if !rmc.isVoid, let date = rmc.date, let timeOfDay = rmc.timeOfDay {
                calendar.tell(date: date, at: timeOfDay, arrivedAt: arrivedAt)
            }
            close(.rmc, body)
        case .gns(let gns):
            open(.gns, at: gns.timeOfDay, arrivedAt: arrivedAt, body)
            epoch?.add(gns)
            close(.gns, body)
        case .gll(let gll):
            open(.gll, at: gll.timeOfDay, arrivedAt: arrivedAt, body)
            epoch?.add(gll)
            close(.gll, body)
        case .vtg(let vtg):
            openForUntimed(arrivedAt: arrivedAt, body)
            epoch?.add(vtg)
            close(.vtg, body)
        case .gsa(let gsa):
            openForUntimed(arrivedAt: arrivedAt, body)
            epoch?.add(gsa)
            close(.gsa, body)
        case .gst(let gst):
            guard let epoch, epoch.timeOfDay == gst.timeOfDay else {
                upcoming.gst = gst
                return
            }
            self.epoch?.add(gst)
            close(.gst, body)
        case .gbs(let gbs):
            guard let epoch, epoch.timeOfDay == gbs.timeOfDay else {
                upcoming.gbs = gbs
                return
            }
            self.epoch?.add(gbs)
            close(.gbs, body)
        case .zda(let zda):
            calendar.tell(date: zda.date, at: zda.timeOfDay, arrivedAt: arrivedAt)
        case .gsv, .heading: break
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
        epoch?.isOver = true
        return fix
    }

    /// Makes sure that the current epoch is the one of a sentence with a position.
    private mutating func open(
        _ part: Part,
        at timeOfDay: Int64?,
        arrivedAt: Timestamp,
        _ body: (Fix) -> Void
    ) {
        if epoch?.holds(part, timeOfDay: timeOfDay) != true { begin(arrivedAt: arrivedAt, body) }
        if let timeOfDay { takeUpcoming(of: timeOfDay) }
    }

    /// Makes sure that there is an epoch for a sentence without time.
    ///
    /// It is of the epoch that stands before it, unless the receiver has been silent in between.
    private mutating func openForUntimed(arrivedAt: Timestamp, _ body: (Fix) -> Void) {
        if epoch?.isOver != false { begin(arrivedAt: arrivedAt, body) }
    }

    private mutating func begin(arrivedAt: Timestamp, _ body: (Fix) -> Void) {
        if let epoch {
            emit(body)
            order.learn(from: epoch.tally)
        }
        epoch = Epoch(arrivedAt: arrivedAt)
    }

    /// Adds the errors that came before the epoch's first position.
    private mutating func takeUpcoming(of timeOfDay: Int64) {
        if let gst = upcoming.gst, gst.timeOfDay == timeOfDay {
            epoch?.add(gst)
            upcoming.gst = nil
        }
        if let gbs = upcoming.gbs, gbs.timeOfDay == timeOfDay {
            epoch?.add(gbs)
            upcoming.gbs = nil
        }
    }

    /// Hands out the fix if nothing more is to be expected after a sentence.
    private mutating func close(_ part: Part, _ body: (Fix) -> Void) {
        if let epoch, order.endsEpoch(part, epoch.tally) { emit(body) }
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
