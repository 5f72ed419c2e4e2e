// SPDX-License-Identifier: Apache-2.0

/// What has been learned about which sentence ends a receiver's epochs.
///
/// Several may: some receivers alternate, or send one type ten times as often as the other. Where
/// there are several sentences of one type, as of GSA, the last of as many as there were counts.
struct SentenceOrder {
    private var habits = InlineArray<8, Habit>(repeating: Habit())

    /// Whether nothing more is to be expected after the latest sentence, which is of a type.
    func endsEpoch(_ part: Part, _ tally: PartTally) -> Bool {
        let habit = habits[part.rawValue]
        return habit.balance > 0 && habit.count == tally.count(part)
    }

    /// Learns from an epoch that is over.
    mutating func learn(from tally: PartTally) {
        for part in Part.allCases where tally.count(part) > 0 {
            habits[part.rawValue].note(count: tally.count(part), wasLast: tally.last == part)
        }
    }

    /// One type's habit: it ends epochs if it did the last time.
    ///
    /// One that has been seen in the middle must end two in a row: the sentence that follows it
    /// may have been lost just once.
    private struct Habit {
        var balance = 0
        var count: UInt8 = 0

        mutating func note(count: UInt8, wasLast: Bool) {
            balance = wasLast ? min(balance + 1, 1) : -1
            self.count = count
        }
    }
}
