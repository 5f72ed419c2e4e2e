// SPDX-License-Identifier: Apache-2.0

/// An instant of civil time: microseconds since 1970-01-01 00:00 UTC, leap seconds not counted.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Microseconds since the Unix epoch.
    public var microseconds: Int64

    /// Makes an instant from microseconds since the Unix epoch.
    public init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    /// Makes an instant from a Gregorian date and a time of day in UTC, `nil` if there is no such.
    ///
    /// A second of 60 (a leap second) is the same instant as the next minute's 0, as POSIX has it.
    ///
    /// - Parameters:
    ///   - year: 1970 to 9999.
    ///   - month: 1 to 12.
    ///   - day: 1 to the month's length.
    ///   - microsecondOfDay: Since midnight, 0 to one day and one (leap) second.
    public init?(year: Int, month: Int, day: Int, microsecondOfDay: Int64 = 0) {
        guard (1970...9999).contains(year), (1...12).contains(month),
            (1...Self.length(ofMonth: month, year: year)).contains(day),
            (0..<Self.microsecondsPerDay + 1_000_000).contains(microsecondOfDay)
        else { return nil }
        // Days since the epoch of a date, counting years from March so that the leap day is last.
        let marchYear = month > 2 ? year : year - 1
        let marchMonth = (month + 9) % 12
        let dayOfYear = (153 * marchMonth + 2) / 5 + day - 1
        let days = marchYear * 365 + marchYear / 4 - marchYear / 100 + marchYear / 400 + dayOfYear
        microseconds = Int64(days - 719_468) * Self.microsecondsPerDay + microsecondOfDay
    }

    /// The time that has passed since an earlier instant; negative if it is later.
    public func since(_ earlier: Timestamp) -> Duration {
        .microseconds(microseconds - earlier.microseconds)
    }

    /// Orders instants by time.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.microseconds < right.microseconds
    }

    /// Microseconds in a day of 24 hours.
    public static let microsecondsPerDay: Int64 = 86_400_000_000

    private static func length(ofMonth month: Int, year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
