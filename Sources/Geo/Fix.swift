// SPDX-License-Identifier: Apache-2.0

/// One position fix: where the device was, when, and how well that is known.
///
/// Unknown is `nil`, never a sentinel. Accuracies are one standard deviation (68 %) as far as
/// the source says; a receiver that reports only a dilution of precision gets an estimate.
public struct Fix: Hashable, Sendable {
    /// Where.
    public var coordinate: Coordinate

    /// Horizontal accuracy in metres, always more than 0.
    public var horizontalAccuracy: Double

    /// Altitude above mean sea level in metres.
    public var altitude: Double?

    /// Altitude above the WGS-84 ellipsoid in metres.
    public var ellipsoidalAltitude: Double?

    /// Accuracy of the altitudes in metres.
    public var verticalAccuracy: Double?

    /// Speed over ground in metres a second, 0 or more.
    public var speed: Double?

    /// Accuracy of the speed in metres a second.
    public var speedAccuracy: Double?

    /// Course over ground in degrees clockwise from true north, 0 ..< 360.
    public var course: Double?

    /// Accuracy of the course in degrees.
    public var courseAccuracy: Double?

    /// How many satellites have a part in the fix, of all systems, as the receiver says.
    public var satellitesUsed: Int?

    /// How the satellites' geometry multiplies a range's error horizontally; more than 0.
    public var hdop: Double?

    /// How the satellites' geometry multiplies a range's error vertically; more than 0.
    public var vdop: Double?

    /// How the satellites' geometry multiplies a range's error in space; more than 0.
    public var pdop: Double?

    /// Whether the receiver has found an altitude as well, as it says.
    public var mode: Mode?

    /// When the fix was made, by the receiver's clock where it tells the date.
    public var timestamp: Timestamp

    /// Which kind of source made the fix, in a word such as `gpsd`, `nmea` or `static`.
    public var source: String

    /// Whether the fix was played back or made up instead of observed.
    public var isSimulated: Bool

    /// How many dimensions a receiver has solved for.
    public enum Mode: Hashable, Sendable {
        /// Latitude and longitude; the altitude, if told at all, is assumed.
        case twoDimensional
        /// Latitude, longitude and altitude.
        case threeDimensional
    }

    /// Makes a fix of which only the position is known.
    ///
    /// - Parameters:
    ///   - coordinate: Where.
    ///   - horizontalAccuracy: Metres, more than 0.
    ///   - timestamp: When the fix was made.
    ///   - source: The kind of source.
    ///   - isSimulated: Whether the fix was played back or made up.
    public init(
        coordinate: Coordinate,
        horizontalAccuracy: Double,
        timestamp: Timestamp,
        source: String,
        isSimulated: Bool = false
    ) {
        self.coordinate = coordinate
        self.horizontalAccuracy = horizontalAccuracy
        self.timestamp = timestamp
        self.source = source
        self.isSimulated = isSimulated
    }
}
