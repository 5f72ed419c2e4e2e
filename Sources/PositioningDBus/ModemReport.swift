// SPDX-License-Identifier: Apache-2.0

internal import DBus
internal import Geo
internal import NMEA

/// What a modem's property `Location` tells: an `a{uv}` with a value for each kind of source.
struct ModemReport {
    private let values: [UInt32: Value]

    /// The accuracy in metres of a position of which nothing else is known: that of a receiver
    /// which tells no dilution of precision either.
    private static let unknownAccuracy = 15.0

    /// - Parameter value: The property's value; one of another type tells nothing.
    init(_ value: Value?) {
        values = (try? value?.decoded(as: [UInt32: Value].self)) ?? [:]
    }

    /// The newest fix of the report, `nil` if there is none.
    ///
    /// - Parameter now: Civil time, for a date that the modem does not tell.
    /// - Returns: A fix whose source is `modem`.
    func fix(now: Timestamp) -> Fix? {
        let sentences = values[ModemInterface.Sources.sentences.rawValue]?.string
        if let fix = sentences.flatMap({ Self.newestFix(of: $0, now: now) }) { return fix }
        let numbers = values[ModemInterface.Sources.rawGPS.rawValue]
        guard let numbers = try? numbers?.decoded(as: [String: Value].self) else { return nil }
        return Self.fix(of: numbers, now: now)
    }

    /// A modem's text has the latest sentence of each kind, in no order, and may mix epochs: all
    /// are read, and of what they make the newest counts.
    private static func newestFix(of text: String, now: Timestamp) -> Fix? {
        var reader = SentenceReader()
        var assembler = FixAssembler(source: "modem")
        var fixes: [Fix] = []
        let add = { (sentence: Sentence) in
            assembler.add(sentence, arrivedAt: now) { fixes.append($0) }
        }
        reader.append(Array(text.utf8), add)
        reader.endLine(add)
        if let last = assembler.flush() { fixes.append(last) }
        return fixes.max { $0.timestamp < $1.timestamp }
    }

    private static func fix(of numbers: [String: Value], now: Timestamp) -> Fix? {
        guard let latitude = numbers["latitude"]?.double,
            let longitude = numbers["longitude"]?.double,
            let coordinate = Coordinate(latitude: latitude, longitude: longitude)
        else { return nil }
        var fix = Fix(
            coordinate: coordinate,
            horizontalAccuracy: unknownAccuracy,
            timestamp: numbers["utc-time"]?.string.flatMap { instant(at: $0, near: now) } ?? now,
            source: "modem"
        )
        fix.altitude = numbers["altitude"]?.double.flatMap { $0.isFinite ? $0 : nil }
        return fix
    }

    /// The instant of a time of day, `hhmmss` or `hhmmss.s…`, that is nearest to now: a modem tells
    /// no date here.
    private static func instant(at text: String, near now: Timestamp) -> Timestamp? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first, whole.utf8.count == 6, let digits = Int64(whole),
            digits >= 0, digits / 10_000 < 24, digits / 100 % 100 < 60, digits % 100 <= 60
        else { return nil }
        var microseconds =
            (digits / 10_000 * 3600 + digits / 100 % 100 * 60 + digits % 100) * 1_000_000
        if let fraction = parts.dropFirst().first {
            let six = (fraction + "000000").prefix(6)
            guard let value = Int64(six), value >= 0 else { return nil }
            microseconds += value
        }
        let day = Timestamp.microsecondsPerDay
        var instant = now.microseconds / day * day + microseconds
        if instant - now.microseconds > day / 2 { instant -= day }
        if now.microseconds - instant > day / 2 { instant += day }
        return Timestamp(microseconds: instant)
    }
}
