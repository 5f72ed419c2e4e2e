// SPDX-License-Identifier: Apache-2.0

public import EventLoop
public import Geo

/// All sources as one: demand in, the best fixes out.
@LoopActor public final class Locator {
    /// Whether there can be fixes.
    public enum Availability: Hashable, Sendable {
        /// At least one source may have fixes.
        case available
        /// Every source has said that it cannot have any for the time being.
        case unavailable
    }

    /// Told each fix that is the best.
    public var onFix: (@LoopActor (Fix) -> Void)?

    /// Told when a source has failed or is back, or is no longer tried.
    public var onAvailability: (@LoopActor (Availability) -> Void)?

    /// The last fix and when it came, kept when the sources are stopped.
    ///
    /// It lasts for as long as its source runs if that tells only once, as a place that never
    /// changes does.
    public private(set) var latest: (fix: Fix, receivedAt: ContinuousClock.Instant, lasts: Bool)?

    /// Whether fixes are wanted: the sources run exactly while this is true.
    public var isWanted = false {
        didSet {
            guard isWanted != oldValue else { return }
            isWanted ? startAll() : stopAll()
            // What has failed is tried anew at the next demand, and may be there by then.
            if !isWanted { forgetFailures() }
        }
    }

    private let clock: any Timekeeper
    private var sources: [any LocationSource] = []
    private var selector = FixSelector()
    private var failed: Set<Int> = []

    /// Makes a locator without sources.
    public init(clock: any Timekeeper) {
        self.clock = clock
    }

    /// The accuracy in metres of the best source that has not failed, `nil` if there is none.
    public var availableAccuracyMetres: Double? {
        sources.indices.filter { !failed.contains($0) }.map { sources[$0].bestAccuracyMetres }.min()
    }

    /// Stops the sources that there are and takes others, which are started if fixes are wanted.
    public func replaceSources(_ newSources: [any LocationSource]) {
        if isWanted { stopAll() }
        sources = newSources
        latest = nil
        if isWanted { startAll() }
        forgetFailures()
    }

    private func startAll() {
        selector = FixSelector()
        for (index, source) in sources.enumerated() {
            source.start { [weak self] event in self?.handle(event, from: index) }
        }
    }

    private func stopAll() {
        for source in sources { source.stop() }
    }

    /// Ends the outage of sources that are stopped, or are there no more.
    private func forgetFailures() {
        guard !failed.isEmpty else { return }
        failed = []
        setAvailability()
    }

    private func handle(_ event: SourceEvent, from index: Int) {
        switch event {
        case .fix(let fix):
            recover(index)
            // Who hears that a source is back may have lost interest.
            guard isWanted, selector.accepts(fix, from: index, at: clock.now) else { return }
            latest = (fix, clock.now, sources[index].tellsOnce)
            onFix?(fix)
        case .available: recover(index)
        case .unavailable:
            let wasFollowed = selector.drop(index)
            if failed.insert(index).inserted { setAvailability() }
            // Who hears of it may have lost interest.
            if wasFollowed, isWanted { askAgain() }
        }
    }

    /// Has the sources that tell only once tell again: their word is the best now.
    private func askAgain() {
        for (index, source) in sources.enumerated() where source.tellsOnce {
            source.stop()
            source.start { [weak self] event in self?.handle(event, from: index) }
        }
    }

    private func recover(_ index: Int) {
        if failed.remove(index) != nil { setAvailability() }
    }

    private func setAvailability() {
        // Told even if there still is a source: the best accuracy may have changed.
        onAvailability?(failed.count == sources.count ? .unavailable : .available)
    }
}
