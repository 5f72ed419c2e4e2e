// SPDX-License-Identifier: Apache-2.0

public import DBus
public import EventLoop
public import Interfaces

/// A program's side of the location service: what it may know, one location, or all as they come.
///
/// The service is started by the bus when it is needed. If it ends and comes back while updates
/// are on, they are begun again.
@LoopActor public final class LocationClient {
    /// What the service tells.
    public enum Event: Hashable, Sendable {
        /// What this program may know: a status, and how exactly.
        case authorization(status: String, accuracy: String)
        /// A location.
        case location(LocationDictionary)
        /// No location can be given: a code and a sentence.
        case failure(code: String, message: String)
        /// The service has ended; `true` once it is back.
        case service(isRunning: Bool)
    }

    private let connection: Connection
    private var handler: (@LoopActor (Event) -> Void)?
    private var subscriptions: [Subscription] = []
    private var ownerWatch: Subscription?

    /// Whether the service has updates on for this connection, as far as it has said.
    private var isStarted = false

    /// Connects to a bus; the service is not called yet.
    ///
    /// - Parameter bus: The bus that the service is on.
    /// - Returns: A client without updates.
    /// - Throws: What the bus says.
    public static func connect(to bus: Connection.Bus = .system) async throws -> LocationClient {
        LocationClient(try await Connection.open(bus))
    }

    private init(_ connection: Connection) {
        self.connection = connection
    }

    /// Called once if the bus goes away.
    public func onDisconnect(_ handler: @escaping @LoopActor () -> Void) {
        connection.onDisconnect = handler
    }

    /// What this program may know, in the words of `GetAuthorization`.
    public func authorization() async throws -> String {
        try await service.call("GetAuthorization").results(String.self)
    }

    /// Waits for one location.
    ///
    /// - Parameters:
    ///   - accuracy: The fix that is exact enough ends the wait.
    ///   - timeout: How long to wait for it, up to ten minutes; `nil` for the service's default.
    /// - Returns: The location.
    /// - Throws: The service's error, whose message says what to do.
    public func location(
        accuracy: DesiredAccuracy = .best,
        timeout: Duration? = nil
    ) async throws -> LocationDictionary {
        let milliseconds = timeout.map { UInt32(max($0 / .milliseconds(1), 1)) } ?? 0
        // The service keeps the time; the bus's own limit must not come before it.
        let reply = try await service.call(
            "GetLocation",
            accuracy.rawValue,
            milliseconds,
            timeout: (timeout ?? .seconds(20)) + .seconds(10)
        )
        return try reply.results(LocationDictionary.self)
    }

    /// Begins updates.
    ///
    /// - Parameter handler: Told what comes, until ``stop()``.
    /// - Throws: The service's error, whose message says what to do.
    public func start(_ handler: @escaping @LoopActor (Event) -> Void) async throws {
        self.handler = handler
        ownerWatch = try connection.subscribe(
            to: SignalMatch(
                sender: "org.freedesktop.DBus",
                interface: "org.freedesktop.DBus",
                member: "NameOwnerChanged",
                arguments: [0: Waymark.busName.string]
            )
        ) { [weak self] message in
            if let (_, _, owner) = try? message.arguments(String.self, String.self, String.self) {
                self?.ownerChanged(to: owner)
            }
        }
        try await begin()
    }

    /// Ends updates.
    public func stop() async throws {
        handler = nil
        ownerWatch = nil
        subscriptions = []
        try await service.call("Stop")
    }

    private var service: Proxy {
        Proxy(
            connection,
            destination: Waymark.busName,
            path: Waymark.path,
            interface: Waymark.location
        )
    }

    /// Listens to the connection that has the service's name, and to no other: anybody can send a
    /// signal that looks like the service's.
    private func begin() async throws {
        var owner = try await connection.owner(of: Waymark.busName)
        if owner == nil {
            try await connection.startService(Waymark.busName)
            owner = try await connection.owner(of: Waymark.busName)
        }
        guard let owner else {
            throw DBusError(.serviceUnknown, "the location service has ended at once")
        }
        let signals = LocationSignals.main
        subscriptions = [
            try connection.subscribe(to: signals.updated, from: Waymark.path, of: owner) {
                [weak self] in self?.handler?(.location($0))
            },
            try connection.subscribe(to: signals.failed, from: Waymark.path, of: owner) {
                [weak self] in self?.failed($0, $1)
            },
            try connection.subscribe(
                to: signals.authorizationChanged,
                from: Waymark.path,
                of: owner
            ) { [weak self] in self?.authorizationChanged($0, $1) },
        ]
        try await startUpdates()
    }

    private func startUpdates() async throws {
        isStarted = true
        do {
            try await service.call("Start")
        } catch {
            isStarted = false
            throw error
        }
    }

    private func failed(_ code: String, _ message: String) {
        // Updates have ended with that; without a source they go on by themselves.
        if code == LocationFailure.denied.rawValue { isStarted = false }
        handler?(.failure(code: code, message: message))
    }

    private func authorizationChanged(_ status: String, _ details: [String: Value]) {
        handler?(
            .authorization(status: status, accuracy: details["accuracy"]?.string ?? "")
        )
        guard !isStarted, handler != nil, status == "always" || status == "when-in-use" else {
            return
        }
        beginAnew { try await $0.startUpdates() }
    }

    private func ownerChanged(to owner: String) {
        handler?(.service(isRunning: !owner.isEmpty))
        guard !owner.isEmpty, handler != nil else { return }
        beginAnew { try await $0.begin() }
    }

    private func beginAnew(_ step: @escaping @LoopActor (LocationClient) async throws -> Void) {
        LoopActor.task { [weak self] in
            guard let self else { return }
            do {
                try await step(self)
            } catch let error as DBusError {
                handler?(.failure(code: error.name.string, message: error.message))
            }
        }
    }
}
