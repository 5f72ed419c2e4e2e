// SPDX-License-Identifier: Apache-2.0

internal import Consent
internal import DBus
internal import EventLoop
internal import Interfaces

/// A session as an object on the bus, which its owner alone can see.
@LoopActor final class SessionObject: SessionOutlet {
    private let path: ObjectPath
    private unowned let service: LocationService
    private let signals: SignalSender
    private weak var session: Session?
    private var lastState: [String: Value] = [:]

    init(path: ObjectPath, service: LocationService, signals: SignalSender) {
        self.path = path
        self.service = service
        self.signals = signals
    }

    /// Makes a session reachable.
    func attach(_ session: Session) {
        self.session = session
        lastState = state(of: session)
        service.connection.export(
            [interface(session)],
            at: path,
            visibleTo: session.client.name
        )
    }

    // MARK: News

    func locationUpdated(_ location: LocationDictionary) { signals.locationUpdated(location) }

    func locationFailed(_ failure: LocationFailure, _ message: String) {
        signals.locationFailed(failure, message)
    }

    func authorizationChanged(_ authorization: Authorization) {
        signals.authorizationChanged(authorization)
    }

    func stateChanged() {
        guard let session else { return }
        tellChanges(state(of: session))
    }

    func closed() {
        service.connection.withdraw(path)
    }

    private func state(of session: Session) -> [String: Value] {
        [
            "Active": .bool(session.isStarted),
            "Diagnostics": Value(session.diagnostics),
        ]
    }

    private func tellChanges(_ state: [String: Value]) {
        let changes = state.filter { lastState[$0.key] != $0.value }
        guard !changes.isEmpty else { return }
        lastState = state
        try? service.connection.emitPropertiesChanged(
            of: Waymark.session,
            at: path,
            changes,
            to: signals.owner
        )
    }

    // MARK: The interface

    private func interface(_ session: Session) -> Interface {
        // The handlers hold the session for as long as calls of it can come.
        let client = session.client
        return Interface(
            Waymark.session,
            [
                .asyncMethod("Start") { [service, session] _ in
                    try await service.start(session, of: client)
                },
                .method("Stop") { [session] _ in session.stop() },
                .asyncMethod(
                    "GetLocation",
                    in: ["accuracy", "timeout_ms"],
                    out: ["location"]
                ) {
                    [service, session]
                    (_, accuracy: String, timeout: UInt32) -> LocationDictionary in
                    let request = try LocationRequest(accuracy: accuracy, timeout: timeout)
                    return try await request.run(session, service)
                },
                .method("Close") { [session] _ in
                    session.close()
                    client.remove(session)
                },
                .signal(LocationSignals.session.updated),
                .signal(LocationSignals.session.failed),
                .signal(LocationSignals.session.authorizationChanged),
            ] + properties(session)
        )
    }

    private func properties(_ session: Session) -> [Interface.Member] {
        [
            .property("DesiredAccuracy") { [session] _ in
                session.options.desiredAccuracy.rawValue
            } set: { [self, session] _, word in
                session.options.desiredAccuracy = try DesiredAccuracy(word: word)
                optionChanged("DesiredAccuracy", .string(word))
                stateChanged()
            },
            .property("DistanceFilter") { [session] _ in
                session.options.distanceFilterMetres
            } set: { [self, session] _, metres in
                try session.options.setDistanceFilter(metres)
                optionChanged("DistanceFilter", .double(metres))
            },
            .property("MinimumInterval") { [session] _ in
                session.options.minimumIntervalMilliseconds
            } set: { [self, session] (_, milliseconds: UInt32) in
                session.options.minimumInterval = .milliseconds(milliseconds)
                optionChanged("MinimumInterval", .uint32(milliseconds))
            },
            .property("ActivityType") { [session] _ in
                session.options.activityType.rawValue
            } set: { [self, session] _, word in
                try session.options.setActivityType(word)
                optionChanged("ActivityType", .string(word))
            },
            .property("Active") { [session] _ in session.isStarted },
            .property("Location", notice: .none) { [session] _ in
                OptionalLocation(session.location)
            },
            .property("Diagnostics") { [session] _ in session.diagnostics },
        ]
    }

    private func optionChanged(_ name: String, _ value: Value) {
        try? service.connection.emitPropertiesChanged(
            of: Waymark.session,
            at: path,
            [name: value],
            to: signals.owner
        )
    }
}

extension Value {
    /// A dictionary of flags, `a{sb}`.
    fileprivate init(_ flags: [String: Bool]) {
        self = .dictionary(
            key: String.signature,
            value: Bool.signature,
            flags.sorted { $0.key < $1.key }
                .map { Entry(key: .string($0.key), value: .bool($0.value)) }
        )
    }
}

/// A location, or an empty dictionary before there is one.
private struct OptionalLocation: DBusCodable {
    let location: LocationDictionary?

    init(_ location: LocationDictionary?) {
        self.location = location
    }

    static var signature: Signature { LocationDictionary.signature }

    func encode(into writer: inout MessageWriter) throws(DBusError) {
        if let location {
            try location.encode(into: &writer)
        } else {
            try [String: Value]().encode(into: &writer)
        }
    }

    init(from reader: inout MessageReader) throws(DBusError) {
        location = try LocationDictionary(from: &reader)
    }
}
