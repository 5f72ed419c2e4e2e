// SPDX-License-Identifier: Apache-2.0

/// A position on the WGS-84 ellipsoid.
///
/// A `Coordinate` is always a place: both numbers are finite and in range, so nobody
/// downstream needs to check for NaN, infinities or a latitude of 91 degrees.
public struct Coordinate: Hashable, Sendable {
    /// Degrees north of the equator, −90 to 90.
    public let latitude: Double

    /// Degrees east of Greenwich, −180 to 180.
    public let longitude: Double

    /// Makes a coordinate, or `nil` if a number is not finite or out of range.
    ///
    /// - Parameters:
    ///   - latitude: Degrees north, −90 to 90.
    ///   - longitude: Degrees east, −180 to 180.
    public init?(latitude: Double, longitude: Double) {
        guard (-90...90).contains(latitude), (-180...180).contains(longitude) else { return nil }
        // Adding zero turns −0.0 into 0.0: two names for one place would not compare equal.
        self.latitude = latitude + 0
        self.longitude = longitude + 0
    }

    /// Makes a coordinate from numbers that are in range by construction, clamped for rounding.
    init(clampingLatitude latitude: Double, longitude: Double) {
        self.latitude = min(max(latitude, -90), 90) + 0
        self.longitude = min(max(longitude, -180), 180) + 0
    }
}
