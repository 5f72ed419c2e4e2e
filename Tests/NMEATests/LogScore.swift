// SPDX-License-Identifier: Apache-2.0

import Geo

/// What is compared of one log.
struct LogScore {
    /// How many of the reference's epochs have our fix at their time and place, and how many
    /// there are.
    private(set) var placed = Part()
    /// Of those that are placed: how many of the told altitudes, and of the speeds, are right.
    private(set) var altitudes = Part()
    private(set) var speeds = Part()
    /// The first epochs that are not as they should be.
    private(set) var complaints: [String] = []

    struct Part: Equatable, CustomStringConvertible {
        var right = 0
        var all = 0
        var description: String { "\(right) of \(all)" }
        var missing: Int { all - right }

        mutating func count(_ isRight: Bool) {
            all += 1
            if isRight { right += 1 }
        }

        static func += (sum: inout Part, part: Part) {
            sum.right += part.right
            sum.all += part.all
        }
    }

    /// Compares fixes with the reference, epoch by epoch.
    ///
    /// gpsd tells an epoch in several rows, and may repeat the position of the one before: a row
    /// with the right position is enough. Before the date is known only the place is compared.
    init(_ fixes: [Fix], _ reference: [ReferenceFix], resolution: Double) {
        let byTime = Dictionary(grouping: fixes, by: \.timestamp)
        for (key, rows) in Dictionary(grouping: reference, by: Key.init) {
            let candidates = key.time.map { byTime[$0] ?? [] } ?? fixes
            let pairs = rows.flatMap { row in
                candidates.filter { row.hasPosition(of: $0, resolution: resolution) }
                    .map { (fix: $0, row: row) }
            }
            placed.count(!pairs.isEmpty)
            if pairs.isEmpty { complaints.append("no fix at \(rows[0])") }
            guard !pairs.isEmpty, key.time != nil else { continue }
            if pairs.contains(where: { $0.row.altitude != nil }) {
                let isRight = pairs.contains {
                    $0.row.altitude != nil && $0.row.hasAltitude(of: $0.fix)
                }
                altitudes.count(isRight)
                if !isRight { complaints.append("another altitude at \(pairs[0].row)") }
            }
            if pairs.contains(where: { $0.row.speed != nil }) {
                let isRight = pairs.contains {
                    $0.row.speed != nil && $0.row.hasSpeed(of: $0.fix)
                }
                speeds.count(isRight)
                if !isRight { complaints.append("another speed at \(pairs[0].row)") }
            }
        }
    }

    /// What makes rows one epoch: the time, else the place.
    private struct Key: Hashable {
        let time: Timestamp?
        var place: [Double] = []

        init(_ row: ReferenceFix) {
            time = row.time
            if time == nil { place = [row.latitude, row.longitude] }
        }
    }
}
