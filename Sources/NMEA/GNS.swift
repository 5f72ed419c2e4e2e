// SPDX-License-Identifier: Apache-2.0

public import Geo

/// A GNS sentence: what GGA says, of a receiver that uses several satellite systems.
///
/// Versions of 12 fields and, with the navigational status, of 13 are known. A sentence with
/// another number of fields, or whose time or position is not one, is refused as a whole.
public struct GNS: Hashable, Sendable {
    /// The time of day in UTC, in microseconds.
    public var timeOfDay: Int64?

    /// How the receiver came to its position, the poorest of the systems that have a part in it;
    /// `nil` if it does not say.
    public var quality: Quality?

    /// Where; `nil` unless the receiver stands behind it.
    public var coordinate: Coordinate?

    /// The number of satellites in use, of all systems.
    public var satellites: Int?

    /// The horizontal dilution of precision as printed, 0 or more.
    public var hdop: Double?

    /// Altitude above mean sea level in metres.
    public var altitude: Double?

    /// How much the geoid (mean sea level) is above the ellipsoid here, in metres.
    public var geoidSeparation: Double?

    /// Whether the receiver says that it has no position: `N` for every system.
    ///
    /// An empty mode takes nothing back: a receiver that sends one GNS for each system prints
    /// the position only in the first.
    public var isVoid: Bool { quality != nil && coordinate == nil }

    /// Reads the fields, or makes `nil` of a sentence that is to be refused.
    init?(_ line: Span<UInt8>, _ frame: Frame) {
        guard (12...13).contains(frame.fieldCount), Self.hasPlausibleTail(line, frame) else {
            return nil
        }
        guard line.readTimeOfDay(frame.field(1), into: &timeOfDay) else { return nil }
        let modes = frame.field(6)
        if !modes.isEmpty {
            guard let quality = Self.quality(line, modes) else { return nil }
            self.quality = quality
        }
        satellites = line.integer(frame.field(7))
        hdop = line.unsigned(frame.field(8))
        altitude = line.decimal(frame.field(9))
        geoidSeparation = line.decimal(frame.field(10))
        guard let quality, quality != .invalid else { return }
        guard let coordinate = line.coordinate(frame, from: 2) else { return nil }
        // No satellite and the origin of all coordinates: memory that was never written.
        let isUnset = satellites == 0 && coordinate.latitude == 0 && coordinate.longitude == 0
        self.coordinate = isUnset ? nil : coordinate
    }

    /// The poorest of the modes that are not `N`, one letter for each system.
    ///
    /// - Returns: The quality, `nil` if one of the letters is none.
    private static func quality(_ line: Span<UInt8>, _ modes: Range<Int>) -> Quality? {
        var result = Quality.invalid
        for index in modes {
            guard let quality = Quality(mode: line[index]) else { return nil }
            if quality == .invalid { continue }
            result = result == .invalid ? quality : result.poorer(quality)
        }
        return result
    }

    /// Whether the age of corrections, the station and the status can be what they are.
    ///
    /// A decimal comma moves all that follows by one field.
    private static func hasPlausibleTail(_ line: Span<UInt8>, _ frame: Frame) -> Bool {
        let age = frame.field(11)
        guard age.isEmpty || line.unsigned(age) != nil else { return false }
        let station = frame.field(12)
        guard station.isEmpty || line.integer(station) != nil else { return false }
        let status = frame.field(13)
        guard frame.fieldCount == 13, !status.isEmpty else {
            // An empty status is one of an empty sentence.
            return frame.fieldCount == 12 || frame.field(6).isEmpty
        }
        guard let letter = line.letter(status) else { return false }
        return letter &- UInt8(ascii: "A") < 26
    }
}
