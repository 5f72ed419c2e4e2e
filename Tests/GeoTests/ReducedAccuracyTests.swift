// SPDX-License-Identifier: Apache-2.0

import Geo
import Testing

@Suite struct ReducedAccuracyTests {
    private func fix(_ latitude: Double, _ longitude: Double, accuracy: Double = 4) throws -> Fix {
        var fix = Fix(
            coordinate: try #require(Coordinate(latitude: latitude, longitude: longitude)),
            horizontalAccuracy: accuracy,
            timestamp: Timestamp(microseconds: 1_700_000_123_456_789),
            source: "nmea"
        )
        fix.altitude = 100
        fix.ellipsoidalAltitude = 150
        fix.speed = 3
        fix.course = 90
        return fix
    }

    @Test func `all of a cell has one reduced position, and it is inside its accuracy`() throws {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            let exact = try fix(
                .random(in: -90...90, using: &generator),
                .random(in: -180...180, using: &generator)
            )
            let reduced = exact.reduced
            let distance = exact.coordinate.distance(to: reduced.coordinate)
            #expect(distance <= reduced.horizontalAccuracy)
            #expect(reduced.reduced == reduced)
        }
    }

    @Test func `neighbours in one cell cannot be told apart, across its border they can`() throws {
        let here = try fix(48.2082, 16.3738).reduced
        #expect(try fix(48.2083, 16.3739).reduced == here)
        #expect(try fix(48.2482, 16.3738).reduced != here)
        #expect(try fix(48.2082, 16.4338).reduced != here)
    }

    @Test func `neither the exact longitude nor altitude, speed, course or time is left`() throws {
        let exact = try fix(48.2082, 16.3738)
        let reduced = exact.reduced
        #expect(reduced.coordinate.latitude != exact.coordinate.latitude)
        #expect(reduced.coordinate.longitude != exact.coordinate.longitude)
        #expect(reduced.altitude == nil)
        #expect(reduced.ellipsoidalAltitude == nil)
        #expect(reduced.speed == nil)
        #expect(reduced.course == nil)
        #expect(reduced.timestamp <= exact.timestamp)
        #expect(reduced.timestamp.microseconds % 900_000_000 == 0)
    }

    @Test(arguments: [(90.0, 180.0), (-90, -180), (89.999, 0), (0, 0), (0, 180)])
    func `the edges of the grid are places too`(corner: (Double, Double)) throws {
        let reduced = try fix(corner.0, corner.1).reduced
        #expect(reduced.horizontalAccuracy >= 2000)
    }

    @Test func `a source worse than the cell is rounded up to whole five kilometres`() throws {
        #expect(try fix(48, 16, accuracy: 12_345).reduced.horizontalAccuracy == 15_000)
    }
}
