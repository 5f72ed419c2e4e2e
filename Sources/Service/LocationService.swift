// SPDX-License-Identifier: Apache-2.0

internal import Consent
public import DBus
public import EventLoop
internal import Geo
internal import Interfaces
internal import Positioning
internal import PositioningDBus

/// The service: sources on one side, doors on the other, the gate between them.
@LoopActor public final class LocationService {
    let connection: Connection
    let gate: Gate
    let clients: ClientRegistry
    let locator: Locator
    let clock: any Timekeeper
    private let log: any Log
    private var configuration: Configuration
    private var door: WaymarkDoor?
    private var outage: String?

    /// Whether some program is told locations, or waits for one.
    private(set) var isInUse = false

    /// Puts the service together; nothing is exported yet.
    ///
    /// - Parameters:
    ///   - connection: The bus that the programs are on.
    ///   - configuration: Sources and decisions.
    ///   - clock: The time.
    ///   - log: Where events are told, never with a coordinate.
    public init(
        connection: Connection,
        configuration: Configuration,
        clock: any Timekeeper = SystemTimekeeper.shared,
        log: any Log
    ) {
        self.connection = connection
        self.configuration = configuration
        self.clock = clock
        self.log = log
        let gate = Gate(rules: AdministratorRules(), clock: clock)
        self.gate = gate
        clients = ClientRegistry(connection: connection, resolver: LocalSubjectResolver()) {
            gate.rules
        }
        locator = Locator(clock: clock)
        locator.onFix = { [weak self] in self?.tell($0) }
        locator.onAvailability = { [weak self] in self?.availabilityChanged($0) }
        clients.onDeparture = { [weak self] _ in self?.gate.forgetOldFixes() }
        applySources()
        applyRules()
    }

    /// Exports the objects and takes the names, in this order: who sees the name can call.
    ///
    /// - Throws: `Failed` if another service has a name, or what the bus says.
    public func start() async throws {
        let door = WaymarkDoor(service: self)
        door.export()
        self.door = door
        for name in [Waymark.busName, GeoClueNames.busName] {
            let result = try await connection.requestName(name)
            guard result == .owner else {
                throw DBusError(
                    .failed,
                    "the name \(name) has an owner: another location service is running"
                )
            }
        }
    }

    /// Takes a new configuration: sources are replaced, decisions hold at once.
    public func apply(_ configuration: Configuration) {
        let sourcesChanged = configuration.sources != self.configuration.sources
        self.configuration = configuration
        if sourcesChanged { applySources() }
        applyRules()
        for client in clients.all { client.rulesChanged() }
        authorizationsChanged()
        if sourcesChanged, let outage = currentOutage { tellOutage(outage.message) }
    }

    /// Ends the sources, kindly: gpsd is told that nobody listens.
    public func stop() {
        locator.isWanted = false
    }

    // MARK: Sessions

    /// What a new session shares with the others.
    var sessionEnvironment: SessionEnvironment {
        SessionEnvironment(
            gate: gate,
            clock: clock,
            demandChanged: { [weak self] in self?.demandChanged() },
            cachedFix: { [weak self] limit in self?.cachedFix(notOlderThan: limit) },
            outage: { [weak self] in self?.currentOutage },
            bestAccuracyMetres: { [weak self] in self?.locator.availableAccuracyMetres }
        )
    }

    /// Tells a client what it may know: once at its beginning, then whenever that changes.
    func announceAuthorization(to client: Client, _ subject: Subject) {
        let authorization = gate.authorization(of: subject)
        guard client.announced != authorization else { return }
        client.announced = authorization
        door?.announce(authorization, to: client)
    }

    private func authorizationsChanged() {
        // All are told before any of them gets a fix, or is told that it gets none any more.
        var changed: [(Client, Authorization)] = []
        for client in clients.all {
            guard let subject = client.subject, let announced = client.announced else { continue }
            let authorization = gate.authorization(of: subject)
            guard authorization != announced else { continue }
            announceAuthorization(to: client, subject)
            changed.append((client, authorization))
        }
        for (client, authorization) in changed {
            for session in client.sessions { session.authorizationChanged(authorization) }
        }
        demandChanged()
    }

    func demandChanged() {
        let isWanted = clients.all.contains { $0.sessions.contains(where: \.needsFixes) }
        locator.isWanted = isWanted
        if !isWanted { outage = nil }
        guard isWanted != isInUse else { return }
        isInUse = isWanted
        door?.inUseChanged()
        door?.availableAccuracyMayHaveChanged()
    }

    // MARK: Fixes

    private func tell(_ fix: Fix) {
        outage = nil
        for client in clients.all {
            for session in client.sessions { session.offer(fix) }
        }
    }

    private func availabilityChanged(_ availability: Locator.Availability) {
        switch availability {
        case .available: outage = nil
        case .unavailable:
            let message =
                "no source can tell the location at the moment;"
                + " updates begin by themselves when one can"
            outage = message
            tellOutage(message)
        }
        door?.availableAccuracyMayHaveChanged()
    }

    private func tellOutage(_ message: String) {
        for client in clients.all {
            for session in client.sessions { session.tellOutage(message) }
        }
    }

    private func cachedFix(notOlderThan limit: Duration) -> Fix? {
        guard let latest = locator.latest else { return nil }
        let lasts = latest.lasts && locator.isWanted
        return lasts || latest.receivedAt.duration(to: clock.now) <= limit ? latest.fix : nil
    }

    private var currentOutage: Outage? {
        if configuration.sources.isEmpty {
            return Outage(
                message: "no source is configured: the administrator can add a [source.NAME]"
                    + " section to the service's configuration",
                isLasting: true
            )
        }
        return outage.map { Outage(message: $0, isLasting: false) }
    }

    // MARK: Configuration

    private func applySources() {
        outage = nil
        locator.replaceSources(
            configuration.sources.map { [log] source in
                source.address.makeSource(named: source.name, over: connection, clock: clock) {
                    log.info($0)
                }
            }
        )
        door?.availableAccuracyMayHaveChanged()
    }

    private func applyRules() {
        let (rules, warnings) = configuration.administratorRules()
        gate.rules = rules
        for warning in warnings { log.warning(warning) }
    }
}
