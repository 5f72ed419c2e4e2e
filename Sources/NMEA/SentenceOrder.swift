// SPDX-License-Identifier: Apache-2.0

/// What has been learned about which type of sentence ends a receiver's epochs.
///
/// Both may: some receivers alternate, or send one type ten times as often as the other.
struct SentenceOrder {
    private var gga = Habit()
    private var rmc = Habit()

    /// Whether nothing more is to be expected after a sentence of a type.
    func endsEpoch(_ part: Epoch.Part) -> Bool {
        switch part {
        case .gga: gga.endsEpoch
        case .rmc: rmc.endsEpoch
        }
    }

    /// Learns from an epoch that is over.
    mutating func learn(from epoch: Epoch) {
        if epoch.has(.gga) { gga.note(wasLast: epoch.lastPart == .gga) }
        if epoch.has(.rmc) { rmc.note(wasLast: epoch.lastPart == .rmc) }
    }

    /// One type's habit: it ends epochs if it did the last time.
    ///
    /// One that has been seen in the middle must end two in a row: the sentence that follows it
    /// may have been lost just once.
    private struct Habit {
        private var balance = 0

        var endsEpoch: Bool { balance > 0 }

        mutating func note(wasLast: Bool) {
            balance = wasLast ? min(balance + 1, 1) : -1
        }
    }
}
