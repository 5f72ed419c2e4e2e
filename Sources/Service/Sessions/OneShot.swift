// SPDX-License-Identifier: Apache-2.0

internal import DBus
internal import EventLoop
internal import Geo
internal import Interfaces

/// One request for one location, ended exactly once: by a fix that is exact enough, by time, or by
/// an error.
@LoopActor final class OneShot {
    typealias Answer = (fix: Fix, location: LocationDictionary)

    /// How exactly the program wants to know.
    let accuracy: DesiredAccuracy
    private var best: Answer?
    private var outcome: Result<Answer, any Error>?
    private var continuation: CheckedContinuation<Void, Never>?

    init(accuracy: DesiredAccuracy) {
        self.accuracy = accuracy
    }

    /// A fix has come: the wait ends if it is exact enough, else it is kept if it is the best.
    ///
    /// - Parameters:
    ///   - fix: What the source told.
    ///   - passed: What the gate made of it.
    ///   - isCached: Whether it was there before the request.
    ///   - bestMetres: The accuracy of the best source that there is: waiting for more is in vain.
    func offer(_ fix: Fix, _ passed: Fix, isCached: Bool, bestMetres: Double?) {
        let answer = (fix, LocationDictionary(passed, isCached: isCached))
        if fix.horizontalAccuracy <= max(accuracy.satisfactionMetres, bestMetres ?? 0) {
            finish(.success(answer))
        } else if best.map({ fix.horizontalAccuracy <= $0.fix.horizontalAccuracy }) ?? true {
            best = answer
        }
    }

    /// Ends the wait with an error.
    func finish(throwing error: DBusError) {
        finish(.failure(error))
    }

    /// Waits for the end.
    ///
    /// - Parameters:
    ///   - timeout: How long to wait; then the best fix that came will do.
    ///   - clock: By which the time is measured.
    ///   - outage: Says why no source had a fix, for the error.
    /// - Returns: The fix, before and behind the gate.
    /// - Throws: What the wait was ended with, or `LocationUnknown` when the time is up.
    func result(
        within timeout: Duration,
        clock: any Timekeeper,
        outage: @escaping @LoopActor () -> String?
    ) async throws -> Answer {
        let timer = clock.schedule(after: timeout) { [self] in
            finish(best.map { .success($0) } ?? .failure(Self.unknown(outage())))
        }
        defer { timer.cancel() }
        await withCheckedContinuation { continuation in
            if outcome != nil {
                continuation.resume()
            } else {
                self.continuation = continuation
            }
        }
        guard let outcome else { throw CancellationError() }
        return try outcome.get()
    }

    private func finish(_ outcome: Result<Answer, any Error>) {
        guard self.outcome == nil else { return }
        self.outcome = outcome
        continuation?.resume()
        continuation = nil
    }

    private static func unknown(_ outage: String?) -> DBusError {
        DBusError(
            WireError.locationUnknown,
            outage ?? "no source had a fix in time: try again, or wait longer"
        )
    }
}
