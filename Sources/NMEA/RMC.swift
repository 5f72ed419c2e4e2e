// SPDX-License-Identifier: Apache-2.0

public import Geo

/// An RMC sentence: position, date, speed and course.
///
/// Versions 2.0 (11 fields), 2.3 (12, with the mode) and 4.1 (13, with the navigational status)
/// are known. The navigational status is not read: nearly every receiver says `V` there, "not
/// supported", beside a good fix. A sentence with another number of fields, or whose time or
/// position is not one, is refused as a whole.
public struct RMC: Hashable, Sendable {
    /// The time of day in UTC, in microseconds.
    public var timeOfDay: Int64?

    /// Midnight of the date in UTC; `nil` if there is none or the calendar has no such day.
    public var date: Timestamp?

    /// How the receiver came to its position; `nil` if it does not say.
    public var quality: Quality?

    /// Where; `nil` unless the receiver stands behind it.
    public var coordinate: Coordinate?

    /// Speed over ground in metres a second.
    public var speed: Double?

    /// Course over ground in degrees clockwise from true north, 0 ..< 360.
    public var course: Double?

    /// Whether the receiver says that it has no position: any status but `A`, or mode `N`.
    public var isVoid: Bool { coordinate == nil }

    /// Metres a second in a knot.
    static let knot = 1852.0 / 3600.0

    /// Reads the fields, or makes `nil` of a sentence that is to be refused.
    init?(_ line: Span<UInt8>, _ frame: Frame) {
        guard (11...13).contains(frame.fieldCount) else { return nil }
        guard line.readTimeOfDay(frame.field(1), into: &timeOfDay) else { return nil }
        guard Self.hasPlausibleTail(line, frame) else { return nil }
        if let letter = line.letter(frame.field(12)) { quality = Quality(mode: letter) }
        date = line.date(frame.field(9))
        if let knots = line.unsigned(frame.field(7)) { speed = knots * Self.knot }
        if let degrees = line.unsigned(frame.field(8)), degrees <= 360 {
            course = degrees == 360 ? 0 : degrees
        }
        guard line.letter(frame.field(2)) == UInt8(ascii: "A"), quality != .invalid else { return }
        guard let coordinate = line.coordinate(frame, from: 3) else { return nil }
        self.coordinate = coordinate
    }

    /// Whether the magnetic variation and the mode can be what they are.
    ///
    /// A decimal comma in speed or course moves all that follows by one field, and a version 2
    /// sentence then has as many as one of version 4. It shows in a date where the variation is,
    /// which otherwise may be anything up to 999.9 ("unknown").
    private static func hasPlausibleTail(_ line: Span<UInt8>, _ frame: Frame) -> Bool {
        if let variation = line.integer(frame.field(10)), variation > 999 { return false }
        return frame.field(11).count <= 1 && frame.field(12).count <= 1
    }
}
