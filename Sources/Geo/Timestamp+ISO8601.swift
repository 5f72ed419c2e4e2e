// SPDX-License-Identifier: Apache-2.0

extension Timestamp {
    /// The instant in UTC as ISO 8601 has it: `2024-07-31T12:00:00.250Z`.
    ///
    /// Of the fraction the digits up to the last that is not 0 are shown, at least three.
    public var iso8601: String {
        let day = roundedDown(toMultipleOf: Self.microsecondsPerDay).microseconds
        let (year, month, dayOfMonth) = Self.date(ofDay: Int(day / Self.microsecondsPerDay))
        let rest = Int(microseconds - day)
        let seconds = rest / 1_000_000
        var fraction = Self.padded(rest % 1_000_000, to: 6)
        while fraction.utf8.count > 3, fraction.last == "0" { fraction.removeLast() }
        let date = "\(Self.padded(year, to: 4))-\(Self.padded(month))-\(Self.padded(dayOfMonth))"
        let minutes = "\(Self.padded(seconds / 3600)):\(Self.padded(seconds / 60 % 60))"
        return "\(date)T\(minutes):\(Self.padded(seconds % 60)).\(fraction)Z"
    }

    /// The Gregorian date of a day counted from 1970-01-01, from the year 0 on.
    ///
    /// Reckoned in years that begin in March, so that the leap day is the last of one.
    private static func date(ofDay number: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = number + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }

    private static func padded(_ number: Int, to width: Int = 2) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
