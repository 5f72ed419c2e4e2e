// SPDX-License-Identifier: Apache-2.0

public import Geo

/// A straight walk as a receiver tells it: sentences of NMEA 0183, one epoch a second.
public struct NMEATrack: Sendable {
    /// When the first epoch is.
    public var start: Timestamp

    /// Where it begins, in degrees.
    public var latitude: Double

    /// Where it begins, in degrees.
    public var longitude: Double

    /// How far north each epoch is of the one before, in degrees.
    public var step: Double

    /// Whether there is a GSA as well, without which gpsd tells no accuracy.
    public var hasGSA: Bool

    /// Makes a track.
    ///
    /// - Parameters:
    ///   - start: When the first epoch is; 15 June 2025, 15:06:40 UTC by default.
    ///   - latitude: Where it begins, in degrees.
    ///   - longitude: Where it begins, in degrees.
    ///   - step: How far north each epoch is of the one before, in degrees.
    ///   - hasGSA: Whether there is a GSA as well.
    public init(
        start: Timestamp = Timestamp(microseconds: 1_750_000_000_000_000),
        latitude: Double = 48.1,
        longitude: Double = 11.5,
        step: Double = 0.0001,
        hasGSA: Bool = false
    ) {
        self.start = start
        self.latitude = latitude
        self.longitude = longitude
        self.step = step
        self.hasGSA = hasGSA
    }

    /// The latitude of an epoch, counted from 0.
    public func latitude(of epoch: Int) -> Double {
        latitude + step * Double(epoch)
    }

    /// The time of an epoch.
    public func time(of epoch: Int) -> Timestamp {
        Timestamp(microseconds: start.microseconds + Int64(epoch) * 1_000_000)
    }

    /// The sentences of an epoch.
    ///
    /// - Parameter epoch: Counted from 0.
    /// - Returns: GGA, GSA if wanted and RMC, each with its line end.
    public func sentences(_ epoch: Int) -> String {
        let clock = Self.clock(time(of: epoch))
        let north = Self.angle(latitude(of: epoch), degreeDigits: 2, "N", "S")
        let east = Self.angle(longitude, degreeDigits: 3, "E", "W")
        let gga = "GPGGA,\(clock.time),\(north),\(east),1,08,0.9,520.0,M,46.9,M,,"
        let gsa = "GPGSA,A,3,02,04,05,09,12,17,25,29,,,,,1.5,0.9,1.2"
        let rmc = "GPRMC,\(clock.time),A,\(north),\(east),1.9,0.0,\(clock.date),,,A"
        return Self.sentence(gga) + (hasGSA ? Self.sentence(gsa) : "") + Self.sentence(rmc)
    }

    /// The sentences of several epochs.
    public func sentences(_ epochs: Range<Int>) -> String {
        epochs.map { sentences($0) }.joined()
    }

    /// The sentences of a receiver that sees no satellite at an epoch.
    public func voidSentences(_ epoch: Int) -> String {
        let clock = Self.clock(time(of: epoch))
        return Self.sentence("GPGGA,\(clock.time),,,,,0,00,99.9,,M,,M,,")
            + Self.sentence("GPRMC,\(clock.time),V,,,,,,,\(clock.date),,,N")
    }

    /// A sentence with its `$`, checksum and line end.
    ///
    /// - Parameter body: What stands between `$` and `*`.
    /// - Returns: The line.
    public static func sentence(_ body: String) -> String {
        "$\(body)*\(hex(body.utf8.reduce(0, ^)))\r\n"
    }

    private static func hex(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16, uppercase: true)
        return digits.count < 2 ? "0" + digits : digits
    }

    private static func padded(_ number: Int, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(digits - text.count, 0)) + text
    }

    private static func angle(
        _ degrees: Double,
        degreeDigits: Int,
        _ positive: String,
        _ negative: String
    ) -> String {
        // A unit is a hundred-thousandth of a minute, two centimetres.
        let units = Int((degrees.magnitude * 6_000_000).rounded())
        let (whole, rest) = units.quotientAndRemainder(dividingBy: 6_000_000)
        let (minutes, fraction) = rest.quotientAndRemainder(dividingBy: 100_000)
        return padded(whole, degreeDigits) + padded(minutes, 2) + "." + padded(fraction, 5) + ","
            + (degrees < 0 ? negative : positive)
    }

    private static func clock(_ time: Timestamp) -> (time: String, date: String) {
        let seconds = Int(time.microseconds / 1_000_000)
        let (days, second) = seconds.quotientAndRemainder(dividingBy: 86_400)
        // Years are few: the date is found by asking for the first day of the next month.
        var (year, month) = (1970, 1)
        func day(of year: Int, _ month: Int) -> Int {
            let first = Timestamp(year: year, month: month, day: 1)?.microseconds ?? 0
            return Int(first / Timestamp.microsecondsPerDay)
        }
        while day(of: year + 1, 1) <= days { year += 1 }
        while month < 12, day(of: year, month + 1) <= days { month += 1 }
        let dayOfMonth = days - day(of: year, month) + 1
        return (
            padded(second / 3600, 2) + padded(second / 60 % 60, 2) + padded(second % 60, 2)
                + ".00",
            padded(dayOfMonth, 2) + padded(month, 2) + padded(year % 100, 2)
        )
    }
}
