// SPDX-License-Identifier: Apache-2.0

internal import Geo
internal import Interfaces

/// What a session wants of its locations, and which of the fixes that come it is told.
struct SessionOptions: Hashable {
    /// How exactly the program wants to know.
    var desiredAccuracy = DesiredAccuracy.best
    /// How far the device has to move before the program is told again, in metres; 0 for any move.
    var distanceFilterMetres = 0.0
    /// How long it takes at least until the program is told again; zero for no limit.
    var minimumInterval = Duration.zero
    /// What the program follows.
    var activityType = ActivityType.other
}

/// What a program follows, in the words of `ActivityType`.
enum ActivityType: String, CaseIterable, Hashable {
    case other
    case automotiveNavigation = "automotive-navigation"
    case fitness
    case otherNavigation = "other-navigation"
    case airborne
}

/// Which fixes a session is told: a pure value, apart from the session that uses it.
struct SessionFilter {
    private var last: (fix: Fix, at: ContinuousClock.Instant)?

    /// Whether a fix is to be told now; if so it is the one that later ones are held against.
    ///
    /// A fix is told if the interval is over and it is either farther away from the last one than
    /// the distance, or more exact than it.
    mutating func accepts(
        _ fix: Fix,
        at now: ContinuousClock.Instant,
        _ options: SessionOptions
    ) -> Bool {
        if let last {
            guard fix != last.fix, last.at.duration(to: now) >= options.minimumInterval else {
                return false
            }
            let distance = last.fix.coordinate.distance(to: fix.coordinate)
            let isMoreExact = fix.horizontalAccuracy < last.fix.horizontalAccuracy
            if options.distanceFilterMetres > 0, distance < options.distanceFilterMetres,
                !isMoreExact
            {
                return false
            }
        }
        last = (fix, now)
        return true
    }
}
