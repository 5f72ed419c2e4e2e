// SPDX-License-Identifier: Apache-2.0

internal import EventLoop
internal import Geo

/// A place that the administrator has set, for devices that do not move.
@LoopActor final class StaticSource: LocationSource {
    let name: String
    let bestAccuracyMetres: Double
    let tellsOnce = true
    private let coordinate: Coordinate
    private let clock: any Timekeeper
    private var first: Timer?

    init(name: String, coordinate: Coordinate, accuracyMetres: Double, clock: any Timekeeper) {
        self.name = name
        self.coordinate = coordinate
        bestAccuracyMetres = accuracyMetres
        self.clock = clock
    }

    func start(_ receiver: @escaping @LoopActor (SourceEvent) -> Void) {
        first = clock.schedule(after: .zero) { [coordinate, bestAccuracyMetres, clock] in
            let fix = Fix(
                coordinate: coordinate,
                horizontalAccuracy: bestAccuracyMetres,
                timestamp: Timestamp(microseconds: clock.microsecondsSinceEpoch),
                source: "static"
            )
            receiver(.fix(fix))
        }
    }

    func stop() {
        first?.cancel()
        first = nil
    }
}
