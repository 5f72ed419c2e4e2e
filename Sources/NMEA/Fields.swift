// SPDX-License-Identifier: Apache-2.0

internal import Geo

/// How the fields of a sentence are read.
///
/// Numbers are read from their digits here: a library's parser would take `nan`, `inf`, `0x10`
/// and `1e5`, all of which have come out of receivers and relays and none of which is meant.
extension Span<UInt8> {
    /// The only byte of a field.
    @inline(__always) func letter(_ field: Range<Int>) -> UInt8? {
        field.count == 1 ? self[field.lowerBound] : nil
    }

    /// Whether a field is empty or a capital letter, as the unit of a number is.
    @inline(__always) func isUnit(_ field: Range<Int>) -> Bool {
        guard let letter = letter(field) else { return field.isEmpty }
        return letter &- UInt8(ascii: "A") < 26
    }

    /// A number: `[+-]digits[.digits]`, nothing before, after or between.
    func decimal(_ field: Range<Int>) -> Double? {
        guard let first = field.first else { return nil }
        let isNegative = self[first] == .minus
        let start = isNegative || self[first] == .plus ? first + 1 : first
        guard let magnitude = unsigned(start..<field.upperBound) else { return nil }
        return isNegative ? -magnitude : magnitude
    }

    /// A number without sign: `digits[.digits]`.
    func unsigned(_ field: Range<Int>) -> Double? {
        var index = field.lowerBound
        guard let whole = digits(&index, end: field.upperBound) else { return nil }
        guard index < field.upperBound else { return Double(whole.value) }
        guard self[index] == .period else { return nil }
        index += 1
        guard let all = digits(&index, end: field.upperBound, after: whole.value),
            index == field.upperBound
        else { return nil }
        return Double(all.value) / all.scale
    }

    /// A number of more than 0.
    func positive(_ field: Range<Int>) -> Double? {
        guard let number = unsigned(field), number > 0 else { return nil }
        return number
    }

    /// A whole number without sign.
    func integer(_ field: Range<Int>) -> Int? {
        var index = field.lowerBound
        guard let whole = digits(&index, end: field.upperBound), index == field.upperBound else {
            return nil
        }
        return Int(exactly: whole.value)
    }

    /// A whole number of exactly the field's digits, at most four.
    private func shortInteger(_ field: Range<Int>) -> Int? {
        var value = 0
        for index in field {
            guard let digit = self[index].digitValue else { return nil }
            value = value * 10 + Int(digit)
        }
        return value
    }

    /// A run of at least one digit, appended to those of `prefix`, and the power of ten it spans.
    ///
    /// A `Double` holds 17 digits; a fraction is cut where they end, a longer whole is refused.
    @inline(__always)
    private func digits(
        _ index: inout Int,
        end: Int,
        after prefix: UInt64? = nil
    ) -> (value: UInt64, scale: Double)? {
        var value = prefix ?? 0
        // Powers of ten up to 22 are exact in a `Double`, so the quotient is rounded only once.
        var scale = 1.0
        let start = index
        while index < end, let digit = self[index].digitValue {
            if value < 100_000_000_000_000_000 {
                value = value * 10 + UInt64(digit)
                scale *= 10
            } else if prefix == nil {
                return nil
            }
            index += 1
        }
        return index > start ? (value, scale) : nil
    }

    /// A latitude or longitude in degrees: `ddmm.mmmm` or `dddmm.mmmm` and its hemisphere.
    ///
    /// The width of the degrees is fixed: what has lost its leading zeros has lost its meaning.
    ///
    /// - Parameters:
    ///   - field: The angle.
    ///   - degreeDigits: 2 for a latitude, 3 for a longitude.
    ///   - hemisphere: The field of the letter.
    ///   - positive: The letter of the positive half.
    ///   - negative: The letter of the negative half.
    /// - Returns: Degrees, `nil` if a field is not what it has to be.
    func angle(
        _ field: Range<Int>,
        degreeDigits: Int,
        hemisphere: Range<Int>,
        positive: UInt8,
        negative: UInt8
    ) -> Double? {
        let split = field.lowerBound + degreeDigits
        guard field.count >= degreeDigits + 2,
            let degrees = shortInteger(field.lowerBound..<split),
            let minutes = unsigned(split..<field.upperBound), minutes < 60,
            // Two digits of minutes, no more and no fewer, before the point.
            self[split + 1] != .period,
            field.count == degreeDigits + 2 || self[split + 2] == .period,
            let letter = letter(hemisphere)
        else { return nil }
        let magnitude = Double(degrees) + minutes / 60
        switch letter {
        case positive: return magnitude
        case negative: return -magnitude
        default: return nil
        }
    }

    /// A position in four fields: latitude, N or S, longitude, E or W.
    func coordinate(_ frame: Frame, from first: Int) -> Coordinate? {
        guard
            let latitude = angle(
                frame.field(first),
                degreeDigits: 2,
                hemisphere: frame.field(first + 1),
                positive: UInt8(ascii: "N"),
                negative: UInt8(ascii: "S")
            ),
            let longitude = angle(
                frame.field(first + 2),
                degreeDigits: 3,
                hemisphere: frame.field(first + 3),
                positive: UInt8(ascii: "E"),
                negative: UInt8(ascii: "W")
            )
        else { return nil }
        return Coordinate(latitude: latitude, longitude: longitude)
    }

    /// A time of day in microseconds: `hhmmss` or `hhmmss.s…`, to the microsecond.
    ///
    /// A second of 60 is a leap second (or a receiver that rounds up): the next minute's first.
    func timeOfDay(_ field: Range<Int>) -> Int64? {
        let start = field.lowerBound
        guard field.count >= 6,
            let hour = shortInteger(start..<start + 2), hour < 24,
            let minute = shortInteger(start + 2..<start + 4), minute < 60,
            let second = shortInteger(start + 4..<start + 6), second <= 60
        else { return nil }
        let whole = Int64(hour * 3600 + minute * 60 + second) * 1_000_000
        guard field.count > 6 else { return whole }
        guard self[start + 6] == .period, field.count > 7 else { return nil }
        var fraction: Int64 = 0
        var unit: Int64 = 100_000
        for index in start + 7..<field.upperBound {
            guard let digit = self[index].digitValue else { return nil }
            fraction += Int64(digit) * unit
            unit /= 10
        }
        return whole + fraction
    }

    /// Reads a time of day that may be unknown.
    ///
    /// - Returns: Whether the field holds a time or nothing.
    @inline(__always)
    func readTimeOfDay(_ field: Range<Int>, into result: inout Int64?) -> Bool {
        guard !field.isEmpty else { return true }
        result = timeOfDay(field)
        return result != nil
    }

    /// A date as `ddmmyy`: its midnight, `nil` if the calendar has no such day.
    ///
    /// Two digits of a year from 80 on are 1980 to 1999, as GPS began in 1980.
    func date(_ field: Range<Int>) -> Timestamp? {
        let start = field.lowerBound
        guard field.count == 6,
            let day = shortInteger(start..<start + 2),
            let month = shortInteger(start + 2..<start + 4),
            let year = shortInteger(start + 4..<start + 6)
        else { return nil }
        return Timestamp(year: year >= 80 ? 1900 + year : 2000 + year, month: month, day: day)
    }
}
