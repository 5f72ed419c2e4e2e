// SPDX-License-Identifier: Apache-2.0

private import Glibc

extension Fix {
    /// The fix as a program with reduced accuracy may see it.
    ///
    /// The position becomes the centre of a cell of 0.04° of latitude by 0.06° of longitude, the
    /// same for every fix in that cell: no noise is added, so nothing can be averaged out.
    /// Altitude, speed and course are left out, the time is rounded down to the quarter of an
    /// hour, and the accuracy is at least half of the cell's diagonal.
    public var reduced: Fix {
        let cell = coordinate.reducedCell
        let cellAccuracy = cell.halfDiagonalMetres.rounded(.up)
        // A source worse than the cell must not show how it changes from fix to fix either.
        let coarse = (horizontalAccuracy / 5000).rounded(.up) * 5000
        return Fix(
            coordinate: cell.centre,
            horizontalAccuracy: horizontalAccuracy <= cellAccuracy ? cellAccuracy : coarse,
            timestamp: timestamp.roundedDown(toMultipleOf: 900_000_000),
            source: source,
            isSimulated: isSimulated
        )
    }
}

extension Coordinate {
    /// A cell of the grid on which reduced positions lie.
    struct Cell: Hashable {
        let centre: Coordinate
        let halfDiagonalMetres: Double
    }

    /// The reduced cell that holds this coordinate.
    var reducedCell: Cell {
        let (south, north) = Self.interval(around: latitude, size: 0.04, limit: 90)
        let (west, east) = Self.interval(around: longitude, size: 0.06, limit: 180)
        let centre = Coordinate(
            clampingLatitude: (south + north) / 2,
            longitude: (west + east) / 2
        )
        // The corner nearer to the equator is the farther one.
        let equatorward = abs(south) < abs(north) ? south : north
        let corner = Coordinate(clampingLatitude: equatorward, longitude: east)
        return Cell(centre: centre, halfDiagonalMetres: centre.distance(to: corner))
    }

    /// The interval of the grid that holds a value; the last one ends at the limit.
    private static func interval(
        around value: Double,
        size: Double,
        limit: Double
    ) -> (Double, Double) {
        let count = (2 * limit / size).rounded(.down)
        let index = min(((value + limit) / size).rounded(.down), count - 1)
        return (index * size - limit, min((index + 1) * size - limit, limit))
    }
}

extension Timestamp {
    /// The latest multiple of a number of microseconds that is not after this instant.
    func roundedDown(toMultipleOf step: Int64) -> Timestamp {
        let remainder = microseconds % step
        return Timestamp(
            microseconds: microseconds - (remainder < 0 ? remainder + step : remainder)
        )
    }
}
