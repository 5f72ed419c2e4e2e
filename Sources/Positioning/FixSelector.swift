// SPDX-License-Identifier: Apache-2.0

internal import Geo

/// Which fixes of several sources are the best, as they come: a pure value.
///
/// One source is followed as long as it is fresh. Another one takes over when the followed one has
/// been silent for ten seconds, or when it is at least twice as exact: so the answer neither falls
/// back to a cell of kilometres between two fixes of a receiver, nor jumps to and fro between two
/// receivers.
struct FixSelector {
    private struct Seen {
        var fix: Fix
        var at: ContinuousClock.Instant
        /// A fix that came behind this one and was older.
        var late: Fix?
    }

    private var last: [Int: Seen] = [:]
    private var followed: Int?

    /// How long a source is followed after its last fix.
    static let freshness = Duration.seconds(10)

    /// Whether a fix is to be passed on.
    ///
    /// - Parameters:
    ///   - fix: What a source tells.
    ///   - source: Which source.
    ///   - now: When it came.
    /// - Returns: Whether it comes from the source that is followed.
    mutating func accepts(_ fix: Fix, from source: Int, at now: ContinuousClock.Instant) -> Bool {
        if let previous = last[source] {
            // Datagrams overtake each other, and modems mix epochs: a fix that is a little older
            // than the one before is late news. Much older, or one after the other, they are of a
            // recording that begins anew.
            let age = previous.fix.timestamp.since(fix.timestamp)
            let goesOn = previous.late.map { $0.timestamp < fix.timestamp } ?? false
            if age > .zero, age < .seconds(60), !goesOn {
                last[source]?.late = fix
                return false
            }
        }
        last[source] = Seen(fix: fix, at: now)
        if let followed, followed != source, let other = last[followed],
            other.at.duration(to: now) < Self.freshness,
            fix.horizontalAccuracy * 2 > other.fix.horizontalAccuracy
        {
            return false
        }
        followed = source
        return true
    }

    /// A source has nothing to tell any more: it is not followed any longer.
    ///
    /// - Parameter source: Which source.
    /// - Returns: Whether it was followed until now.
    @discardableResult
    mutating func drop(_ source: Int) -> Bool {
        last[source] = nil
        guard followed == source else { return false }
        followed = nil
        return true
    }
}
