// SPDX-License-Identifier: Apache-2.0

internal import Consent
internal import EventLoop
internal import Geo
internal import Interfaces

/// The only place from which a coordinate leaves towards a client.
///
/// Both doors, continuous updates, cached locations, properties and one-shot requests ask it
/// whether a subject may know, and how exactly.
@LoopActor final class Gate {
    /// The decisions.
    ///
    /// Whoever replaces them tells the clients.
    var rules: AdministratorRules

    private let clock: any Timekeeper

    /// The last reduced fix of each subject: it is made anew four times an hour at the most, so
    /// that the times at which it changes do not betray where a border was crossed.
    private var reducedFixes: [Subject: (fix: Fix, madeAt: ContinuousClock.Instant)] = [:]

    /// How long a reduced fix stands.
    static let reducedLifetime = Duration.seconds(15 * 60)

    init(rules: AdministratorRules, clock: any Timekeeper) {
        self.rules = rules
        self.clock = clock
    }

    /// What a subject may know.
    func authorization(of subject: Subject) -> Authorization {
        rules.authorization(of: subject)
    }

    /// A fix as a subject may know it, `nil` if it may not.
    ///
    /// - Parameters:
    ///   - fix: What a source has told.
    ///   - subject: Who would know.
    ///   - desired: How exactly it wants to know.
    /// - Returns: The fix as it is, or reduced.
    func pass(_ fix: Fix, to subject: Subject, desired: DesiredAccuracy) -> Fix? {
        let authorization = authorization(of: subject)
        guard authorization.status.permitsLocations else { return nil }
        switch (authorization.accuracy, desired) {
        case (.full, .reduced): return fix.reduced
        case (.full, _): return fix
        case (.reduced, _): return reducedFix(fix, for: subject)
        }
    }

    /// Forgets fixes that no program would get any more.
    ///
    /// Those of programs that have gone stay as long as any other's: one that comes back within
    /// the quarter of an hour gets the same fix again.
    func forgetOldFixes() {
        let now = clock.now
        reducedFixes = reducedFixes.filter {
            $0.value.madeAt.duration(to: now) < Self.reducedLifetime
        }
    }

    private func reducedFix(_ fix: Fix, for subject: Subject) -> Fix {
        let now = clock.now
        if let last = reducedFixes[subject],
            last.madeAt.duration(to: now) < Self.reducedLifetime
        {
            return last.fix
        }
        let reduced = fix.reduced
        reducedFixes[subject] = (reduced, now)
        return reduced
    }
}
