// SPDX-License-Identifier: Apache-2.0

/// At which baud rate a receiver talks: one after the other is listened to until a sentence with a
/// good checksum comes.
///
/// ```
///              first byte               a sentence
///    quiet ──────────────▶ listening ──────────────▶ found
///      │  5 s                  │  2.5 s                │  15 s of bytes without a sentence
///      ▼                       ▼                       ▼
///    the next rate, quiet again; after the last one: failed
/// ```
///
/// The time at a rate counts from the first byte, so that a receiver that talks seldom is heard
/// out, and one that is heard at a wrong rate is not listened to for long: a wrong rate makes
/// other bytes of a receiver's, but rarely none. One sentence is enough: no noise is framed like
/// one and has its checksum as well. If the rate is given, it is the only one, and the receiver
/// gets more time.
///
/// A pure value: it is told what comes and what time it is, and says what to do.
struct BaudSearch {
    /// What is to be done.
    enum Step: Hashable {
        /// To listen on.
        case stay
        /// To set the line to the next rate and say so by ``begin(at:)``.
        case change
        /// The rate has just been found.
        case found
        /// To give up; the reason is the end of a sentence about the line.
        case fail(reason: String)
    }

    private enum State: Hashable {
        case quiet
        case listening
        case found(noiseSince: ContinuousClock.Instant?)
    }

    private let rates: [Int]
    private var index = 0
    private var state = State.quiet
    private var hasHeard = false

    /// When to call ``timeOut(at:)`` if nothing happens before, `nil` if there is no need to.
    private(set) var deadline: ContinuousClock.Instant?

    /// The rates of receivers: first those that they have when they are new.
    static let usualRates = [4800, 9600, 38400, 115_200, 57600, 19200, 230_400, 460_800]

    /// How long a rate is tried at which nothing comes.
    static let quietLimit = Duration.seconds(5)
    /// How long a rate is tried at which something comes.
    static let listeningLimit = Duration.seconds(2.5)
    /// How long a rate is kept that was given, or has been right, if only noise comes.
    static let patience = Duration.seconds(15)

    /// A search among the usual rates.
    ///
    /// - Parameter first: The rate to begin with, which was right the last time.
    init(first: Int?) {
        guard let first, let place = Self.usualRates.firstIndex(of: first) else {
            rates = Self.usualRates
            return
        }
        rates = [first] + Self.usualRates[..<place] + Self.usualRates[(place + 1)...]
    }

    /// No search: the rate is known.
    init(only rate: Int) {
        rates = [rate]
    }

    /// The rate that the line is to have now.
    var rate: Int { rates[index] }

    var isFound: Bool {
        if case .found = state { true } else { false }
    }

    /// The line has got the rate.
    mutating func begin(at now: ContinuousClock.Instant) {
        state = .quiet
        deadline = now.advanced(by: rates.count > 1 ? Self.quietLimit : Self.patience)
    }

    /// Bytes have come.
    ///
    /// - Parameters:
    ///   - sentenceCount: How many good sentences they have ended.
    ///   - now: When.
    /// - Returns: What is to be done.
    mutating func heard(sentenceCount: Int, at now: ContinuousClock.Instant) -> Step {
        hasHeard = true
        if sentenceCount > 0 {
            let isNew = !isFound
            state = .found(noiseSince: nil)
            deadline = nil
            return isNew ? .found : .stay
        }
        switch state {
        case .quiet:
            state = .listening
            deadline = now.advanced(by: rates.count > 1 ? Self.listeningLimit : Self.patience)
        case .listening: break
        case .found(nil): state = .found(noiseSince: now)
        case .found(let since?):
            if since.duration(to: now) >= Self.patience {
                return .fail(reason: "sends no NMEA any more at \(rate) baud")
            }
        }
        return .stay
    }

    /// The deadline has passed, or the line cannot have this rate.
    mutating func timeOut(at now: ContinuousClock.Instant) -> Step {
        deadline = nil
        guard !isFound else { return .stay }
        if index + 1 < rates.count {
            index += 1
            return .change
        }
        if !hasHeard { return .fail(reason: "sends nothing") }
        return .fail(
            reason: rates.count == 1
                ? "sends no NMEA at \(rate) baud" : "sends no NMEA at any usual baud rate"
        )
    }
}
