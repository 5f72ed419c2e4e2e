// SPDX-License-Identifier: Apache-2.0

internal import Geo

/// The receiver's date: told now and then, carried over midnight in between.
struct ReceiverCalendar {
    /// Midnight of the day of the latest instant, once the receiver has told a date.
    private var midnight: Int64?

    /// The time of day of the latest instant.
    private var timeOfDay: Int64 = 0

    /// The midnights that are believed: 2000 to 9999.
    ///
    /// The clock of a receiver without almanac begins in 1980.
    private static let believable: Range<Int64> = 946_684_800_000_000..<253_402_300_800_000_000

    /// Takes note of a date that the receiver tells.
    ///
    /// - Parameters:
    ///   - date: Midnight of the date.
    ///   - timeOfDay: In microseconds.
    ///   - arrivedAt: When, by the host's clock.
    mutating func tell(date: Timestamp, at timeOfDay: Int64, arrivedAt: Timestamp) {
        let date = WeekRollover.corrected(date, arrivedAt: arrivedAt)
        guard Self.believable.contains(date.microseconds) else { return }
        midnight = date.microseconds
        self.timeOfDay = timeOfDay
    }

    /// The instant of a time of day, `nil` while no date is known.
    ///
    /// It is the one nearest to the latest instant: a step back of more than half a day is the
    /// next day, a step forward of more than that a late sentence of the day before.
    mutating func instant(at timeOfDay: Int64) -> Timestamp? {
        guard var midnight else { return nil }
        let step = timeOfDay - self.timeOfDay
        if step < -Timestamp.microsecondsPerDay / 2 {
            midnight += Timestamp.microsecondsPerDay
        } else if step > Timestamp.microsecondsPerDay / 2 {
            midnight -= Timestamp.microsecondsPerDay
        }
        // Times that make no sense may carry the date anywhere, but not on for ever.
        guard Self.believable.contains(midnight) else {
            self.midnight = nil
            return nil
        }
        self.midnight = midnight
        self.timeOfDay = timeOfDay
        return Timestamp(microseconds: midnight + timeOfDay)
    }
}
