// SPDX-License-Identifier: Apache-2.0

public import Geo

/// A GGA sentence: position, altitude, and how good they are, but no date.
///
/// Fields whose number is not one are unknown; but a sentence whose time or position is not one
/// is refused as a whole. A relay that writes a decimal comma adds fields, with a checksum that is
/// right: the letters of the units have to be in their places, and if there are more or fewer
/// than 14 fields, they have to be there.
public struct GGA: Hashable, Sendable {
    /// The time of day in UTC, in microseconds.
    public var timeOfDay: Int64?

    /// How the receiver came to its position; `nil` if it does not say.
    public var quality: Quality?

    /// Where; `nil` unless the receiver stands behind it.
    public var coordinate: Coordinate?

    /// The number of satellites in use.
    public var satellites: Int?

    /// The horizontal dilution of precision as printed, 0 or more.
    public var hdop: Double?

    /// Altitude above mean sea level in metres.
    public var altitude: Double?

    /// How much the geoid (mean sea level) is above the ellipsoid here, in metres.
    public var geoidSeparation: Double?

    /// Whether the receiver says that it has no position.
    ///
    /// An empty quality is no position either, but it takes back nothing of what an RMC says.
    public var isVoid: Bool { quality != nil && coordinate == nil }

    /// Reads the fields, or makes `nil` of a sentence that is to be refused.
    init?(_ line: Span<UInt8>, _ frame: Frame) {
        guard Self.hasPlausibleUnits(line, frame) else { return nil }
        guard line.readTimeOfDay(frame.field(1), into: &timeOfDay) else { return nil }
        let indicator = frame.field(6)
        if !indicator.isEmpty {
            guard let letter = line.letter(indicator), let quality = Quality(indicator: letter)
            else { return nil }
            self.quality = quality
        }
        satellites = line.integer(frame.field(7))
        hdop = line.unsigned(frame.field(8))
        // Metres only: a receiver that is set to feet writes another letter.
        if line.letter(frame.field(10)) == UInt8(ascii: "M") {
            altitude = line.decimal(frame.field(9))
        }
        if line.letter(frame.field(12)) == UInt8(ascii: "M") {
            geoidSeparation = line.decimal(frame.field(11))
        }
        guard let quality, quality != .invalid else { return }
        guard let coordinate = line.coordinate(frame, from: 2) else { return nil }
        // No satellite and the origin of all coordinates: memory that was never written.
        let isUnset = satellites == 0 && coordinate.latitude == 0 && coordinate.longitude == 0
        self.coordinate = isUnset ? nil : coordinate
    }

    /// Whether the letters of the units are where they belong, `M` (or another unit) or nothing.
    private static func hasPlausibleUnits(_ line: Span<UInt8>, _ frame: Frame) -> Bool {
        let (altitude, separation) = (frame.field(10), frame.field(12))
        guard frame.fieldCount != 14 else {
            return line.isUnit(altitude) && line.isUnit(separation)
        }
        return (12...16).contains(frame.fieldCount)
            && line.letter(altitude) == UInt8(ascii: "M")
            && line.letter(separation) == UInt8(ascii: "M")
    }
}
