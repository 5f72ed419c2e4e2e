// SPDX-License-Identifier: Apache-2.0

/// How accurate a position is, in metres.
///
/// What the receiver estimates itself (GST, else GBS) counts. Most print none, only how the
/// satellites' geometry multiplies the error of a single range (HDOP, VDOP). The error of a range
/// is then assumed from the kind of fix. The product is the radius that holds the position in
/// about two of three cases.
struct ErrorModel {
    /// The horizontal accuracy in metres, always more than 0.
    let horizontalAccuracy: Double

    /// The accuracy of an altitude in metres, always more than 0.
    let verticalAccuracy: Double

    /// Estimates the accuracy of a fix.
    ///
    /// All satellites are above the horizon, so heights are worse than positions: without VDOP one
    /// and a half times is what the open sky usually gives.
    ///
    /// - Parameters:
    ///   - quality: How the receiver came to the position.
    ///   - hdop: The horizontal dilution of precision as printed, if it was.
    ///   - vdop: The vertical dilution of precision, if it is known.
    ///   - errors: What the receiver estimates itself.
    init(quality: Quality, hdop: Double?, vdop: Double?, errors: PositionErrors) {
        let rangeError = Self.rangeError(quality)
        func accuracy(_ estimate: Double?, _ dilution: Double) -> Double {
            guard let estimate else { return rangeError * dilution }
            // No receiver knows its position ten times better than one of its ranges.
            return min(max(estimate, rangeError / 10), Self.largest)
        }
        horizontalAccuracy = accuracy(errors.horizontal, Self.dilution(hdop))
        verticalAccuracy = accuracy(
            errors.vertical,
            vdop.map(Self.dilution) ?? Self.dilution(hdop) * 1.5
        )
    }

    /// One standard deviation of a range in metres.
    static func rangeError(_ quality: Quality) -> Double {
        switch quality {
        case .fixedRTK: 0.04
        case .floatRTK: 0.5
        case .differential, .precise: 2.5
        case .autonomous, .simulated, .invalid: 5
        // Nothing is measured here; these are to lose against anything that is.
        case .estimated, .manual: 30
        }
    }

    /// A dilution that says something: more than 0, and less than the 99 and more that receivers
    /// print for "cannot tell".
    static func known(_ dilution: Double?) -> Double? {
        guard let dilution, dilution > 0, dilution < 99 else { return nil }
        return dilution
    }

    /// Half the way around the earth: nothing is farther.
    private static let largest = 20_000_000.0

    /// The dilution to reckon with.
    ///
    /// Unknown is taken as 3, a street between houses: 15 m for a receiver that sends only RMC.
    /// 0 is unknown. Less than 0.5 no sky gives; such a number is a wrong one, and this is the
    /// floor that keeps an accuracy from being too good to be true. From 50 on (receivers print
    /// 99.99 for "cannot tell") the position is as bad as one can be and still be sent.
    private static func dilution(_ dilution: Double?) -> Double {
        guard let dilution, dilution > 0 else { return 3 }
        return min(max(dilution, 0.5), 50)
    }
}
