// SPDX-License-Identifier: Apache-2.0

internal import Consent
internal import DBus
internal import EventLoop
internal import Interfaces
internal import Positioning

/// The service's own door: the main object, and the sessions behind it.
@LoopActor final class WaymarkDoor {
    unowned let service: LocationService
    private var lastSessionNumber: UInt64 = 0
    private let broadcaster: LocationBroadcaster
    private var toldAccuracy: String?

    /// How many sessions a connection may have besides its default one.
    static let sessionLimit = 32

    init(service: LocationService) {
        self.service = service
        broadcaster = LocationBroadcaster(service.connection)
        toldAccuracy = availableAccuracy
    }

    /// Makes the main object reachable.
    func export() {
        service.connection.export([mainInterface, sessionsInterface], at: Waymark.path)
    }

    // MARK: News

    /// Tells all sessions of a client what it may know.
    func announce(_ authorization: Authorization, to client: Client) {
        mainOutlet(for: client).authorizationChanged(authorization)
        for session in client.sessions where session !== defaultSession(of: client) {
            session.outlet.authorizationChanged(authorization)
        }
    }

    func inUseChanged() {
        changed(["InUse": .bool(service.isInUse)])
    }

    func availableAccuracyMayHaveChanged() {
        let accuracy = availableAccuracy
        guard accuracy != toldAccuracy else { return }
        toldAccuracy = accuracy
        changed(["AvailableAccuracy": .string(accuracy)])
    }

    private func changed(_ values: [String: Value]) {
        // Without a connection nobody is there to be told.
        try? service.connection.emitPropertiesChanged(
            of: Waymark.location,
            at: Waymark.path,
            values
        )
    }

    // MARK: The main interface

    private var mainInterface: Interface {
        Interface(
            Waymark.location,
            [
                .asyncMethod("Start") { [self] call in try await start(call) },
                .method("Stop") { [self] call in stop(call) },
                .asyncMethod("GetAuthorization", out: ["status"]) { [self] call -> String in
                    let subject = try await service.clients.subject(of: call)
                    return service.gate.authorization(of: subject).status.rawValue
                },
                .asyncMethod(
                    "GetLocation",
                    in: ["accuracy", "timeout_ms"],
                    out: ["location"]
                ) { [self] (call, accuracy: String, timeout: UInt32) -> LocationDictionary in
                    let request = try LocationRequest(accuracy: accuracy, timeout: timeout)
                    let client = try service.clients.client(for: call)
                    let session = makeDefaultSession(of: client)
                    return try await request.run(session, service)
                },
                .signal(LocationSignals.main.updated),
                .signal(LocationSignals.main.failed),
                .signal(LocationSignals.main.authorizationChanged),
                .property("LocationServicesEnabled") { _ in true },
                .property("InUse") { [self] _ in service.isInUse },
                .property("AvailableAccuracy") { [self] _ in availableAccuracy },
                .property("Version", notice: .constant) { _ in Version.text },
            ]
        )
    }

    private var availableAccuracy: String {
        service.locator.availableAccuracyMetres
            .map { DesiredAccuracy(sourceMetres: $0).rawValue } ?? "none"
    }

    private func start(_ call: Call) async throws {
        let client = try service.clients.client(for: call)
        let session = makeDefaultSession(of: client)
        try await service.start(session, of: client)
    }

    private func stop(_ call: Call) {
        // Who never started anything has nothing to stop, and does not become a client by it.
        guard let client = service.clients.existingClient(for: call) else { return }
        defaultSession(of: client)?.stop()
    }

    private func defaultSession(of client: Client) -> Session? {
        client.sessions.first { $0.outlet is MainOutlet }
    }

    private func makeDefaultSession(of client: Client) -> Session {
        if let session = defaultSession(of: client) { return session }
        let session = Session(
            client: client,
            outlet: mainOutlet(for: client),
            environment: service.sessionEnvironment
        )
        client.add(session)
        return session
    }

    private func mainOutlet(for client: Client) -> MainOutlet {
        MainOutlet(
            signals: SignalSender(
                broadcaster: broadcaster,
                signals: .main,
                path: Waymark.path,
                owner: client.name
            )
        )
    }

    // MARK: Sessions

    private var sessionsInterface: Interface {
        Interface(
            Waymark.sessions,
            [
                .asyncMethod("CreateSession", in: ["options"], out: ["session"]) {
                    [self] (call, entries: SessionOptionEntries) -> ObjectPath in
                    try await createSession(call, entries.options)
                }
            ]
        )
    }

    private func createSession(_ call: Call, _ options: SessionOptions) async throws -> ObjectPath {
        let client = try service.clients.client(for: call)
        guard client.sessions.count(where: { !($0.outlet is MainOutlet) }) < Self.sessionLimit
        else {
            throw DBusError(
                WireError.limitExceeded,
                "a connection can have \(Self.sessionLimit) sessions: close one first"
            )
        }
        lastSessionNumber += 1
        let path = Waymark.sessionPath(lastSessionNumber)
        let object = SessionObject(
            path: path,
            service: service,
            signals: SignalSender(
                broadcaster: broadcaster,
                signals: .session,
                path: path,
                owner: client.name
            )
        )
        let session = Session(
            client: client,
            outlet: object,
            environment: service.sessionEnvironment
        )
        session.options = options
        object.attach(session)
        client.add(session)
        let subject = try await client.identified()
        service.announceAuthorization(to: client, subject)
        return path
    }
}
