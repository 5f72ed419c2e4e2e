// SPDX-License-Identifier: Apache-2.0

import Geo
import Testing

@Suite struct CoordinateTests {
    @Test(arguments: [
        (90.000001, 0.0), (-90.1, 0), (0, 180.000001), (0, -181), (.nan, 0), (0, .nan),
        (.infinity, 0), (0, -.infinity),
    ])
    func `a number out of range or not finite makes no coordinate`(numbers: (Double, Double)) {
        #expect(Coordinate(latitude: numbers.0, longitude: numbers.1) == nil)
    }

    @Test(arguments: [
        // Two points 111.2 m apart on both sides of the 180th meridian.
        (0.0, 179.9995, 0.0, -179.9995, 111.195),
        (0.0, 0.0, 0.0, 180.0, 20_015_114.44),
        (90.0, 12.0, -90.0, 77.0, 20_015_114.44),
        (
            65.09034271683089, -121.96981239217565, -65.0903427168311, 58.03018760782425,
            20_015_114.44
        ),
        (51.5, -0.1, 51.5, -0.1, 0.0),
        (48.2082, 16.3738, 48.8566, 2.3522, 1_033_900.0),
    ])
    func `a distance is finite and right everywhere`(
        row: (Double, Double, Double, Double, Double)
    ) throws {
        let from = try #require(Coordinate(latitude: row.0, longitude: row.1))
        let to = try #require(Coordinate(latitude: row.2, longitude: row.3))
        #expect(abs(from.distance(to: to) - row.4) <= max(row.4 * 1e-3, 0.01))
        #expect(from.distance(to: to) == to.distance(to: from))
    }

    @Test(arguments: [
        (0.0, 0.0, 1.0, 0.0, 0.0), (0, 0, 0, 1, 90), (1, 0, 0, 0, 180), (0, 1, 0, 0, 270),
        (0, 179.5, 0, -179.5, 90),
    ])
    func `a bearing is clockwise from north`(
        row: (Double, Double, Double, Double, Double)
    ) throws {
        let from = try #require(Coordinate(latitude: row.0, longitude: row.1))
        let to = try #require(Coordinate(latitude: row.2, longitude: row.3))
        let bearing = try #require(from.bearing(to: to))
        #expect(abs(bearing - row.4) < 1e-9)
    }

    @Test func `there is no bearing to the same place`() throws {
        let place = try #require(Coordinate(latitude: 10, longitude: 10))
        #expect(place.bearing(to: place) == nil)
    }
}
