// SPDX-License-Identifier: Apache-2.0

internal import Consent
internal import DBus
internal import EventLoop
internal import Geo
internal import Interfaces

/// Where a session's news go: each door has its own.
@LoopActor protocol SessionOutlet {
    /// A new location.
    func locationUpdated(_ location: LocationDictionary)
    /// No location can be given.
    func locationFailed(_ failure: LocationFailure, _ message: String)
    /// The program's authorization is another one.
    func authorizationChanged(_ authorization: Authorization)
    /// `Active` or `Diagnostics` have new values.
    func stateChanged()
    /// The session has ended: nothing can be asked of it any more.
    func closed()
}

/// Continuous updates and one-shot requests of one client, the same for both doors.
///
/// A session is started and stopped at once, while it may still be unknown who its client is;
/// nothing is delivered before that is known and the gate lets it pass.
@LoopActor final class Session {
    /// Who is told.
    unowned let client: Client

    /// What the program wants.
    var options = SessionOptions()

    /// Whether the program wants continuous updates.
    private(set) var isStarted = false

    /// The last fix that was delivered, before the gate; read through the gate only.
    private(set) var lastFix: Fix?

    let outlet: any SessionOutlet
    private let environment: SessionEnvironment
    private var filter = SessionFilter()
    private var hasToldOutage = false
    private var oneShot: OneShot?

    /// Whether it has ended for good.
    private(set) var isClosed = false

    init(client: Client, outlet: any SessionOutlet, environment: SessionEnvironment) {
        self.client = client
        self.outlet = outlet
        self.environment = environment
    }

    /// Whether it wants fixes and may have them: a source runs only for such sessions.
    var needsFixes: Bool {
        guard isStarted || oneShot != nil, let subject = client.subject else { return false }
        return environment.gate.authorization(of: subject).status.permitsLocations
    }

    /// The last delivered location as the program may know it now.
    var location: LocationDictionary? {
        guard let lastFix, let subject = client.subject,
            let fix = environment.gate.pass(
                lastFix,
                to: subject,
                desired: options.desiredAccuracy
            )
        else { return nil }
        return LocationDictionary(fix, isCached: true)
    }

    // MARK: Continuous updates

    /// Begins continuous updates; a one-shot request that waits is cancelled.
    func start() {
        guard !isStarted, !isClosed else { return }
        isStarted = true
        filter = SessionFilter()
        hasToldOutage = false
        oneShot?.finish(
            throwing: DBusError(
                WireError.cancelled,
                "continuous updates have begun, and LocationUpdated tells the location"
            )
        )
        oneShot = nil
        outlet.stateChanged()
        environment.demandChanged()
    }

    /// Tells a started session what there is, once it is known who its client is.
    func catchUp() {
        guard isStarted, needsFixes else { return }
        if let cached = environment.cachedFix(Self.cachedFixLifetime) {
            deliver(cached, isCached: true)
        } else if let outage = environment.outage() {
            tellOutage(outage.message)
        }
    }

    /// Ends continuous updates.
    func stop() {
        guard isStarted else { return }
        isStarted = false
        outlet.stateChanged()
        environment.demandChanged()
    }

    /// Ends it for good.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        isStarted = false
        oneShot?.finish(
            throwing: DBusError(WireError.cancelled, "the session was closed")
        )
        outlet.closed()
        environment.demandChanged()
    }

    /// Throws `Cancelled` if it has ended: a call was on its way behind the one that ended it.
    func checkOpen() throws(DBusError) {
        if isClosed { throw DBusError(WireError.cancelled, "the session was closed") }
    }

    /// A source has a fix.
    func offer(_ fix: Fix) {
        deliver(fix, isCached: false)
    }

    /// No source has one for the time being.
    func tellOutage(_ message: String) {
        guard isStarted, needsFixes, !hasToldOutage else { return }
        hasToldOutage = true
        outlet.locationFailed(.locationUnknown, message)
        outlet.stateChanged()
    }

    /// Takes back what the program may not have any more, after it was told its authorization.
    func authorizationChanged(_ authorization: Authorization) {
        switch authorization.status {
        case .always, .whenInUse:
            filter = SessionFilter()
            catchUp()
        case .denied, .restricted:
            let error = authorization.status.refusal
            oneShot?.finish(throwing: error)
            if isStarted {
                isStarted = false
                outlet.locationFailed(.denied, error.message)
            }
        case .notDetermined:
            oneShot?.finish(throwing: authorization.status.refusal)
        }
        outlet.stateChanged()
    }

    /// Why nothing is delivered, or not as much as was asked for, as independent words.
    var diagnostics: [String: Bool] {
        let authorization = client.subject.map(environment.gate.authorization)
        let status = authorization?.status ?? .notDetermined
        return [
            "authorization-denied": status == .denied,
            "authorization-restricted": status == .restricted,
            "authorization-not-determined": status == .notDetermined,
            "accuracy-limited": status.permitsLocations && authorization?.accuracy == .reduced
                && options.desiredAccuracy != .reduced,
            "location-unavailable": isStarted && hasToldOutage,
        ]
    }

    private func deliver(_ fix: Fix, isCached: Bool) {
        guard isStarted || oneShot != nil, let subject = client.subject,
            let passed = environment.gate.pass(
                fix,
                to: subject,
                desired: oneShot?.accuracy ?? options.desiredAccuracy
            )
        else { return }
        if let oneShot {
            oneShot.offer(
                fix,
                passed,
                isCached: isCached,
                bestMetres: environment.bestAccuracyMetres()
            )
            return
        }
        guard filter.accepts(passed, at: environment.clock.now, options) else { return }
        lastFix = fix
        outlet.locationUpdated(LocationDictionary(passed, isCached: isCached))
        if hasToldOutage {
            hasToldOutage = false
            outlet.stateChanged()
        }
    }

    /// How old a fix may be to be told at the start of continuous updates.
    static let cachedFixLifetime = Duration.seconds(60)

    // MARK: One-shot requests

    /// How old a fix may be to answer a one-shot request at once.
    static let oneShotFixLifetime = Duration.seconds(10)

    /// Waits for one location.
    ///
    /// - Parameters:
    ///   - accuracy: The fix that is exact enough ends the wait.
    ///   - timeout: How long to wait; then the best fix that came will do.
    ///   - identified: Called before anything else is told, once it is known who the client is.
    /// - Returns: A location that the gate let pass.
    /// - Throws: `Busy`, `LocationUnknown`, or what the program's authorization has become.
    func oneLocation(
        _ accuracy: DesiredAccuracy,
        timeout: Duration,
        identified: @LoopActor (Client, Subject) -> Void
    ) async throws -> LocationDictionary {
        guard !isStarted, oneShot == nil else {
            throw DBusError(
                WireError.busy,
                isStarted
                    ? "continuous updates are on: LocationUpdated tells the location"
                    : "another GetLocation of this connection waits: let it end first"
            )
        }
        try checkOpen()
        let request = OneShot(accuracy: accuracy)
        oneShot = request
        defer {
            if oneShot === request { oneShot = nil }
            environment.demandChanged()
        }
        let subject = try await client.identified()
        identified(client, subject)
        let status = environment.gate.authorization(of: subject).status
        guard status.permitsLocations else { throw status.refusal }
        if let cached = environment.cachedFix(Self.oneShotFixLifetime) {
            deliver(cached, isCached: true)
        } else if let outage = environment.outage(), outage.isLasting {
            request.finish(throwing: DBusError(WireError.locationUnknown, outage.message))
        }
        environment.demandChanged()
        let (fix, location) = try await request.result(
            within: timeout,
            clock: environment.clock
        ) { [environment] in environment.outage()?.message }
        lastFix = fix
        return location
    }
}

/// What sessions share: the gate, the time and the sources' state.
@LoopActor struct SessionEnvironment {
    let gate: Gate
    let clock: any Timekeeper
    /// A session's wish for fixes may have begun or ended.
    let demandChanged: @LoopActor () -> Void
    /// The last fix if it is not older than a time.
    let cachedFix: @LoopActor (Duration) -> Fix?
    /// Why no source has a fix; `nil` while one may have.
    let outage: @LoopActor () -> Outage?
    /// The accuracy in metres of the best source that may have fixes.
    let bestAccuracyMetres: @LoopActor () -> Double?
}

/// A time without a fix from any source.
struct Outage: Hashable {
    /// Why, as a sentence for people.
    let message: String
    /// Whether waiting is in vain.
    let isLasting: Bool
}

extension AuthorizationStatus {
    /// The error for a program that asks for a location without being allowed to know.
    var refusal: DBusError {
        switch self {
        case .restricted:
            DBusError(
                WireError.restricted,
                "the administrator has ruled out that this program knows the location"
            )
        case .denied:
            DBusError(
                WireError.denied,
                "this program may not know the location: the administrator can allow it in a"
                    + " [program.ID] section of the service's configuration"
            )
        case .notDetermined, .whenInUse, .always:
            DBusError(
                WireError.notDetermined,
                "nobody has decided yet whether this program may know the location: the"
                    + " administrator can do so in a [program.ID] section of the service's"
                    + " configuration"
            )
        }
    }
}
