// SPDX-License-Identifier: Apache-2.0

/// A straight walk eastward as NMEA 0183: an epoch a second, from 2026-03-01 10:00:00 UTC on.
public struct Track: Sendable {
    /// Makes a walk.
    public init() {}

    /// The sentences of one epoch.
    ///
    /// - Parameters:
    ///   - second: Which epoch, counted from 0.
    ///   - isVoid: Whether the receiver has lost its fix.
    /// - Returns: GGA, GSA and RMC with their checksums, each ended by CR LF.
    public func epoch(_ second: Int, isVoid: Bool = false) -> String {
        let time = Self.clock(10 * 3600 + second)
        let position = "4812.49200,N,\(Self.longitude(second)),E"
        let bodies =
            isVoid
            ? ["GPGGA,\(time),,,,,0,00,99.99,,,,,,", "GPRMC,\(time),V,,,,,,,010326,,,N"]
            : [
                "GPGGA,\(time),\(position),1,09,0.9,171.0,M,43.5,M,,",
                "GPGSA,A,3,02,05,07,09,13,15,21,28,30,,,,1.6,0.9,1.3",
                "GPRMC,\(time),A,\(position),2.70,90.0,010326,,,A",
            ]
        return bodies.map(Self.sentence).joined()
    }

    /// Puts a sentence into its frame.
    ///
    /// - Parameter body: What stands between the dollar sign and the asterisk.
    /// - Returns: The sentence with its checksum, ended by CR LF.
    public static func sentence(_ body: String) -> String {
        let sum = body.utf8.reduce(0, ^)
        let digits = String(sum, radix: 16, uppercase: true)
        return "$\(body)*\(digits.count == 1 ? "0" : "")\(digits)\r\n"
    }

    /// The longitude of an epoch in degrees; its latitude is 48.2082.
    public static func longitudeDegrees(_ second: Int) -> Double {
        16 + (22.428 + Double(second) * 0.001) / 60
    }

    private static func clock(_ second: Int) -> String {
        [second / 3600 % 24, second / 60 % 60, second % 60].map(twoDigits).joined() + ".00"
    }

    /// 0.001 minutes a second are 1.2 m at this latitude.
    private static func longitude(_ second: Int) -> String {
        let thousandths = 22_428 + second
        let fraction = String(1000 + thousandths % 1000).dropFirst()
        return "016\(twoDigits(thousandths / 1000)).\(fraction)00"
    }

    private static func twoDigits(_ number: Int) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
