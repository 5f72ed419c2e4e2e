// SPDX-License-Identifier: Apache-2.0

public import DBus
public import EventLoop
internal import Geo
public import Positioning

/// Receivers on the local network, such as phones, that announce `_nmea-0183._tcp`: found by way
/// of Avahi while a location is wanted, and read like any other server of NMEA 0183.
///
/// Of several, one is followed as long as it tells, as among other sources.
@LoopActor public final class AvahiSource: LocationSource {
    /// The name it has in the configuration.
    public let name: String

    /// What a receiver reaches under the open sky.
    public let bestAccuracyMetres = 5.0
    private let connection: Connection
    private let clock: any Timekeeper
    private let log: SourceLog
    private var receiver: (@LoopActor (SourceEvent) -> Void)?
    private var owner: NameWatch?
    private var subscriptions: [Subscription] = []
    private var browser: ObjectPath?
    /// What is announced; without a receiver for as long as its address is looked up.
    private var services: [AvahiService: AvahiReceiver?] = [:]
    private var readers: [AvahiReceiver: any LocationSource] = [:]
    private var followed: (receiver: AvahiReceiver, at: ContinuousClock.Instant)?
    private var failed: Set<AvahiReceiver> = []
    private var reason: String?

    /// Counts the starts and the lives of Avahi: what belongs to an earlier one does not count.
    private var life = 0

    /// How long a receiver is followed after its last fix.
    private static let freshness = Duration.seconds(10)

    /// More receivers than anybody has, so that a network full of announcements costs little.
    private static let most = 8

    /// Makes a source; nothing is asked before it is started.
    ///
    /// - Parameters:
    ///   - name: Its name for messages.
    ///   - connection: The bus on which Avahi is, the system's.
    ///   - clock: The time.
    ///   - log: Where it tells its comings and goings.
    public init(
        name: String,
        connection: Connection,
        clock: any Timekeeper,
        log: @escaping SourceLog
    ) {
        self.name = name
        self.connection = connection
        self.clock = clock
        self.log = log
    }

    isolated deinit {
        stop()
    }

    /// Begins to look for receivers, and starts Avahi if it is installed and not running.
    public func start(_ receiver: @escaping @LoopActor (SourceEvent) -> Void) {
        self.receiver = receiver
        reason = nil
        LoopActor.task { [weak self] in self?.begin() }
    }

    /// Stops at once: no receiver is connected to, and none is looked for.
    public func stop() {
        receiver = nil
        if let browser, connection.isOpen {
            try? connection.callWithoutReply(
                "Free",
                on: AvahiInterface.browser,
                at: browser,
                of: AvahiInterface.busName
            )
        }
        owner.take()?.cancel()
        subscriptions = []
        forget()
    }

    // MARK: Avahi

    private func begin() {
        guard receiver != nil, owner == nil else { return }
        do {
            // Before there is a browser: the first announcements come before its path is known.
            subscriptions = [
                try subscribe("ItemNew") { [weak self] message in
                    self?.announced(try AvahiService(message))
                },
                try subscribe("ItemRemove") { [weak self] message in
                    self?.withdrawn(try AvahiService(message))
                },
                try subscribe("AllForNow") { [weak self] _ in self?.lookedRound() },
            ]
            owner = try connection.watchName(AvahiInterface.busName) { [weak self] owner in
                self?.ownerChanged(to: owner)
            }
        } catch {
            fail("the bus is not reachable: \(error.message)")
        }
    }

    private func subscribe(
        _ member: MemberName,
        _ handler: @escaping @LoopActor (borrowing Message) throws -> Void
    ) throws(DBusError) -> Subscription {
        let match = SignalMatch(
            sender: AvahiInterface.busName,
            interface: AvahiInterface.browser,
            member: member
        )
        return try connection.subscribe(to: match) { message in try? handler(message) }
    }

    private func ownerChanged(to owner: BusName?) {
        forget()
        guard owner != nil else {
            fail("Avahi is not running")
            // It may only have to be asked for, once.
            LoopActor.task { [connection] in
                try? await connection.startService(AvahiInterface.busName)
            }
            return
        }
        let current = life
        LoopActor.task { [weak self] in await self?.browse(current) }
    }

    private func browse(_ current: Int) async {
        do {
            let path = try await connection.call(
                "ServiceBrowserNew",
                on: AvahiInterface.server,
                at: "/",
                of: AvahiInterface.busName,
                AvahiInterface.unspecified,
                AvahiInterface.unspecified,
                AvahiInterface.serviceType,
                "",
                UInt32(0)
            ).results(ObjectPath.self)
            guard current == life, receiver != nil else {
                // Nobody wants it any more, and nobody else knows of it.
                return try connection.callWithoutReply(
                    "Free",
                    on: AvahiInterface.browser,
                    at: path,
                    of: AvahiInterface.busName
                )
            }
            browser = path
        } catch {
            guard current == life else { return }
            fail("Avahi does not look for receivers: \(Self.text(error))")
        }
    }

    private func announced(_ service: AvahiService) {
        guard receiver != nil, service.type == AvahiInterface.serviceType, services[service] == nil
        else { return }
        services[service] = .some(nil)
        let current = life
        LoopActor.task { [weak self] in await self?.resolve(service, current) }
    }

    private func resolve(_ service: AvahiService, _ current: Int) async {
        let reply = try? await connection.call(
            "ResolveService",
            on: AvahiInterface.server,
            at: "/",
            of: AvahiInterface.busName,
            service.interface,
            service.networkProtocol,
            service.name,
            service.type,
            service.domain,
            AvahiInterface.unspecified,
            UInt32(0)
        )
        let answer = try? reply?.results(
            Int32.self,
            Int32.self,
            String.self,
            String.self,
            String.self,
            String.self,
            Int32.self,
            String.self,
            UInt16.self,
            [[UInt8]].self,
            UInt32.self
        )
        guard current == life, receiver != nil, services[service] != nil else { return }
        if let answer {
            services[service] = AvahiReceiver(
                address: answer.7,
                port: answer.8,
                interface: answer.0,
                texts: answer.9
            )
        } else {
            // It has gone again, or will be announced anew.
            services[service] = nil
        }
        update()
    }

    private func withdrawn(_ service: AvahiService) {
        guard services.removeValue(forKey: service) != nil else { return }
        update()
    }

    private func lookedRound() {
        if services.isEmpty { fail("no receiver is announced on the network") }
    }

    // MARK: Receivers

    /// Reads exactly the receivers that are announced.
    private func update() {
        let wanted = Set(services.values.compactMap(\.self))
        for (receiver, reader) in readers where !wanted.contains(receiver) {
            reader.stop()
            readers[receiver] = nil
            failed.remove(receiver)
            if followed?.receiver == receiver { followed = nil }
        }
        for receiver in wanted where readers[receiver] == nil && readers.count < Self.most {
            let reader = SourceAddress.nmea(receiver.endpoint)
                .makeSource(named: name, over: connection, clock: clock, log: log)
            readers[receiver] = reader
            reader.start { [weak self] event in self?.handle(event, from: receiver) }
        }
        lookedRound()
    }

    private func handle(_ event: SourceEvent, from origin: AvahiReceiver) {
        guard readers[origin] != nil else { return }
        switch event {
        case .fix(var fix):
            failed.remove(origin)
            recover()
            if let followed, followed.receiver != origin,
                followed.at.duration(to: clock.now) < Self.freshness
            {
                return
            }
            followed = (origin, clock.now)
            fix.horizontalAccuracy = max(fix.horizontalAccuracy, origin.leastAccuracyMetres)
            receiver?(.fix(fix))
        case .available:
            failed.remove(origin)
            recover()
        case .unavailable(let reason):
            failed.insert(origin)
            if followed?.receiver == origin { followed = nil }
            // The reader has logged it, and goes on trying.
            if failed.count == readers.count { tell(reason) }
        }
    }

    // MARK: Ends

    private func forget() {
        life += 1
        browser = nil
        services = [:]
        failed = []
        followed = nil
        for reader in exchange(&readers, with: [:]).values { reader.stop() }
    }

    private func fail(_ reason: String) {
        guard receiver != nil, self.reason != reason else { return }
        log("source \(name): \(reason)")
        tell(reason)
    }

    private func tell(_ reason: String) {
        guard receiver != nil, self.reason != reason else { return }
        self.reason = reason
        receiver?(.unavailable(reason: reason))
    }

    private func recover() {
        guard reason.take() != nil else { return }
        receiver?(.available)
    }

    private static func text(_ error: any Error) -> String {
        (error as? DBusError)?.message ?? "\(error)"
    }
}
