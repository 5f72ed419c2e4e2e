// SPDX-License-Identifier: Apache-2.0

private import Glibc

extension Coordinate {
    /// The distance to another coordinate in metres, along a great circle.
    ///
    /// The sphere has the mean radius of WGS-84 (6 371 008.8 m, IUGG), so the result is within
    /// 0.56 % of the ellipsoid's geodesic: less than any receiver's error at the distances a
    /// filter looks at. Always finite, zero for equal points, right across the 180th meridian
    /// and at antipodes.
    ///
    /// - Parameter other: The far end.
    /// - Returns: Metres, 0 to 20 015 115.
    public func distance(to other: Coordinate) -> Double {
        let (sine, cosine) = haversineHalves(to: other)
        return 2 * Self.meanRadiusMetres * atan2(sine.squareRoot(), cosine.squareRoot())
    }

    /// The direction in which the great circle to another coordinate leaves this one.
    ///
    /// - Parameter other: The far end.
    /// - Returns: Degrees clockwise from true north, 0 ..< 360; `nil` between equal points.
    public func bearing(to other: Coordinate) -> Double? {
        guard self != other else { return nil }
        let (φ1, φ2) = (latitude.radians, other.latitude.radians)
        let Δλ = (other.longitude - longitude).radians
        let y = sin(Δλ) * cos(φ2)
        let x = cos(φ1) * sin(φ2) - sin(φ1) * cos(φ2) * cos(Δλ)
        let degrees = (atan2(y, x) * 180 / .pi + 360).truncatingRemainder(dividingBy: 360)
        return degrees < 360 ? degrees : 0
    }

    /// The mean radius of the earth in metres (IUGG, from the WGS-84 semi-axes).
    static let meanRadiusMetres = 6_371_008.8

    /// `hav` and `1 − hav` of the central angle, both clamped against rounding.
    private func haversineHalves(to other: Coordinate) -> (Double, Double) {
        let (φ1, φ2) = (latitude.radians, other.latitude.radians)
        let sinΔφ = sin((φ2 - φ1) / 2)
        let sinΔλ = sin((other.longitude - longitude).radians / 2)
        let haversine = sinΔφ * sinΔφ + cos(φ1) * cos(φ2) * sinΔλ * sinΔλ
        let clamped = min(max(haversine, 0), 1)
        return (clamped, 1 - clamped)
    }
}

extension Double {
    /// Degrees as radians.
    var radians: Double { self * .pi / 180 }
}
