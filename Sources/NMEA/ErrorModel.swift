// SPDX-License-Identifier: Apache-2.0

/// How a dilution of precision becomes metres.
///
/// A receiver prints no accuracy in GGA or RMC, only how the satellites' geometry multiplies
/// the error of a single range (HDOP). The error of a range is therefore assumed from the kind of
/// fix. The product is the radius that holds the position in about two of three cases.
struct ErrorModel {
    /// The horizontal accuracy in metres, always more than 0.
    let horizontalAccuracy: Double

    /// The accuracy of an altitude in metres.
    ///
    /// All satellites are above the horizon, so heights are worse: one and a half times is what
    /// the open sky usually gives.
    var verticalAccuracy: Double { horizontalAccuracy * 1.5 }

    /// Estimates the accuracy of a fix.
    ///
    /// - Parameters:
    ///   - quality: How the receiver came to the position.
    ///   - hdop: The dilution of precision as printed, if it was.
    init(quality: Quality, hdop: Double?) {
        horizontalAccuracy = Self.rangeError(quality) * Self.dilution(hdop)
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

    /// The dilution to reckon with.
    ///
    /// Unknown is taken as 3, a street between houses: 15 m for a receiver that sends only RMC.
    /// 0 is unknown. Less than 0.5 no sky gives; such a number is a wrong one, and this is the
    /// floor that keeps an accuracy from being too good to be true. From 50 on (receivers print
    /// 99.99 for "cannot tell") the position is as bad as one can be and still be sent.
    private static func dilution(_ hdop: Double?) -> Double {
        guard let hdop, hdop > 0 else { return 3 }
        return min(max(hdop, 0.5), 50)
    }
}
