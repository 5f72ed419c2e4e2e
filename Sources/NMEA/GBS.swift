// SPDX-License-Identifier: Apache-2.0

/// A GBS sentence: expected errors, and which satellite may be faulty.
public struct GBS: Hashable, Sendable {
    /// The time of day in UTC, in microseconds.
    public var timeOfDay: Int64?

    /// The expected error of the latitude in metres, more than 0.
    public var latitudeError: Double?

    /// The expected error of the longitude in metres, more than 0.
    public var longitudeError: Double?

    /// The expected error of the altitude in metres, more than 0.
    public var altitudeError: Double?

    /// Reads the fields, or makes `nil` of a sentence that is to be refused.
    ///
    /// From version 4.1 on the faulty satellite's system and signal follow; its number has to be
    /// one, which it is not where decimal commas have moved the fields.
    init?(_ line: Span<UInt8>, _ frame: Frame) {
        let satellite = frame.field(5)
        guard frame.fieldCount == 8 || frame.fieldCount == 10,
            line.readTimeOfDay(frame.field(1), into: &timeOfDay),
            satellite.isEmpty || line.integer(satellite) != nil,
            frame.field(9).count <= 1, frame.field(10).count <= 1
        else { return nil }
        latitudeError = line.positive(frame.field(2))
        longitudeError = line.positive(frame.field(3))
        altitudeError = line.positive(frame.field(4))
    }
}
