// SPDX-License-Identifier: Apache-2.0

/// A GST sentence: the receiver's own estimate of its errors, one standard deviation each.
public struct GST: Hashable, Sendable {
    /// The time of day in UTC, in microseconds.
    public var timeOfDay: Int64?

    /// The error of the latitude in metres, more than 0.
    public var latitudeError: Double?

    /// The error of the longitude in metres, more than 0.
    public var longitudeError: Double?

    /// The error of the altitude in metres, more than 0.
    public var altitudeError: Double?

    /// Reads the fields, or makes `nil` of a sentence that is to be refused.
    ///
    /// The error ellipse says the same in other axes, and is what some receivers print alone.
    init?(_ line: Span<UInt8>, _ frame: Frame) {
        guard frame.fieldCount == 8,
            line.readTimeOfDay(frame.field(1), into: &timeOfDay)
        else { return nil }
        latitudeError = line.positive(frame.field(6)) ?? line.positive(frame.field(3))
        longitudeError = line.positive(frame.field(7)) ?? line.positive(frame.field(4))
        altitudeError = line.positive(frame.field(8))
    }
}
