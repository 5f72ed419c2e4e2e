// SPDX-License-Identifier: Apache-2.0

import Geo

/// A row of a log's reference that has a position.
struct ReferenceFix {
    /// When, as the receiver told it; `nil` where it had told no date yet.
    let time: Timestamp?
    let latitude: Double
    let longitude: Double
    /// Metres above mean sea level.
    let altitude: Double?
    /// Metres a second.
    let speed: Double?

    /// Reads a row, or makes `nil` of one without position.
    init?(_ row: Substring) {
        let columns = row.split(separator: ",", omittingEmptySubsequences: false)
        guard columns.count > 12, let mode = Int(columns[4]), mode >= 2,
            let latitude = Double(columns[6]), let longitude = Double(columns[7])
        else { return nil }
        self.latitude = latitude
        self.longitude = longitude
        altitude = Double(columns[10])
        speed = Double(columns[12])
        time = Self.instant(columns[1])
    }

    /// Whether a fix has this position.
    ///
    /// - Parameters:
    ///   - fix: The fix.
    ///   - resolution: The last digit that the receiver prints of a coordinate, in degrees.
    /// - Returns: Whether they differ by no more than the printed digits may.
    func hasPosition(of fix: Fix, resolution: Double) -> Bool {
        let tolerance = 1e-6 + resolution / 2
        return abs(fix.coordinate.latitude - latitude) < tolerance
            && abs(fix.coordinate.longitude - longitude) < tolerance
    }

    /// Whether a fix has this altitude, if there is one.
    func hasAltitude(of fix: Fix) -> Bool {
        guard let altitude else { return true }
        return fix.altitude.map { abs($0 - altitude) <= 0.06 } ?? false
    }

    /// Whether a fix has this speed, if there is one.
    func hasSpeed(of fix: Fix) -> Bool {
        guard let speed else { return true }
        return fix.speed.map { abs($0 - speed) <= max(0.01, speed * 0.003) } ?? false
    }

    /// Reads `2007-12-23T19:32:21.000Z`, exact to the last printed digit.
    private static func instant(_ text: Substring) -> Timestamp? {
        let parts = text.split { "-T:.Z".contains($0) }
        let numbers = parts.compactMap { Int($0) }
        guard numbers.count == 7, parts[6].count == 3,
            let midnight = Timestamp(year: numbers[0], month: numbers[1], day: numbers[2])
        else { return nil }
        let seconds = (numbers[3] * 60 + numbers[4]) * 60 + numbers[5]
        return Timestamp(
            microseconds: midnight.microseconds + Int64(seconds * 1000 + numbers[6]) * 1000
        )
    }
}
