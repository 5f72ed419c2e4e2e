// SPDX-License-Identifier: Apache-2.0

public import DBus
public import EventLoop
internal import Geo
public import Positioning

/// The receiver in a mobile modem, by way of ModemManager.
///
/// While it is wanted, the first modem that has a receiver is set up to tell its place, by
/// sentences of NMEA 0183 where it can; afterwards the modem is set up as it was before, so that
/// the receiver rests unless somebody else wanted it. Modems that come and go are followed.
@LoopActor public final class ModemSource: LocationSource {
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
    private var modem: Modem?
    private var modems: Set<ObjectPath> = []
    private var retry: Timer?
    private var settling: Timer?
    private var report = ModemReport(nil)
    /// Whether the modem has told its place by itself since it was set up.
    private var hasReport = false
    private var lastTold: Geo.Timestamp?
    private var reason: String?

    /// Counts what is being tried: what an older attempt is answered with does not count.
    private var attempt = 0

    /// Counts the starts and the lives of ModemManager in the same way.
    private var life = 0

    /// A modem that was set up, and how it was before.
    private struct Modem {
        let path: ObjectPath
        let enabledBefore: UInt32
        let signalledBefore: Bool
    }

    /// A modem tells each sentence as it comes: how long to wait for the others of an epoch.
    private static let settlingTime = Duration.milliseconds(100)

    /// How long until a modem that refused is asked again; it may have been enabled by then.
    private static let retryPause = Duration.seconds(10)

    /// Makes a source; nothing is asked before it is started.
    ///
    /// - Parameters:
    ///   - name: Its name for messages.
    ///   - connection: The bus on which ModemManager is, the system's.
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

    /// Begins to tell, and starts ModemManager if it is installed and not running.
    public func start(_ receiver: @escaping @LoopActor (SourceEvent) -> Void) {
        self.receiver = receiver
        reason = nil
        lastTold = nil
        LoopActor.task { [weak self] in self?.begin() }
    }

    /// Stops at once, and sets the modem up as it was before.
    public func stop() {
        receiver = nil
        release()
        owner.take()?.cancel()
        subscriptions = []
        modems = []
    }

    // MARK: ModemManager

    private func begin() {
        guard receiver != nil, owner == nil else { return }
        do {
            try listen()
            owner = try connection.watchName(ModemInterface.busName) { [weak self] owner in
                self?.ownerChanged(to: owner)
            }
        } catch {
            fail("the bus is not reachable: \(error.message)")
        }
    }

    private func listen() throws(DBusError) {
        subscriptions = [
            try subscribe(ModemInterface.objectManager, "InterfacesAdded") { [weak self] message in
                self?.added(try message.arguments(ObjectPath.self, [String: [String: Value]].self))
            },
            try subscribe(ModemInterface.objectManager, "InterfacesRemoved") {
                [weak self] message in
                let (path, interfaces) = try message.arguments(ObjectPath.self, [String].self)
                if interfaces.contains(ModemInterface.location.string) { self?.removed(path) }
            },
            try subscribe(ModemInterface.properties, "PropertiesChanged") { [weak self] message in
                guard let path = message.path, path == self?.modem?.path else { return }
                let (interface, changed, _) = try message.arguments(
                    String.self,
                    [String: Value].self,
                    [String].self
                )
                guard interface == ModemInterface.location.string else { return }
                self?.hasReport = true
                self?.located(changed["Location"])
            },
        ]
    }

    private func subscribe(
        _ interface: InterfaceName,
        _ member: MemberName,
        _ handler: @escaping @LoopActor (borrowing Message) throws -> Void
    ) throws(DBusError) -> Subscription {
        let match = SignalMatch(
            sender: ModemInterface.busName,
            pathNamespace: ModemInterface.root,
            interface: interface,
            member: member
        )
        // What is not as the interface has it tells nothing.
        return try connection.subscribe(to: match) { message in try? handler(message) }
    }

    private func ownerChanged(to owner: BusName?) {
        forget()
        guard owner != nil else {
            fail("ModemManager is not running")
            // It may only have to be asked for, once.
            LoopActor.task { [connection] in
                try? await connection.startService(ModemInterface.busName)
            }
            return
        }
        let current = life
        LoopActor.task { [weak self] in await self?.findModems(current) }
    }

    private func findModems(_ current: Int) async {
        do {
            let objects = try await connection.call(
                "GetManagedObjects",
                on: ModemInterface.objectManager,
                at: ModemInterface.root,
                of: ModemInterface.busName
            ).results([ObjectPath: [String: [String: Value]]].self)
            guard current == life, receiver != nil else { return }
            for (path, interfaces) in objects where Self.hasReceiver(interfaces) {
                modems.insert(path)
            }
            if modem == nil { setUpFirst() }
        } catch {
            guard current == life else { return }
            fail("ModemManager does not tell its modems: \(Self.text(error))")
        }
    }

    private func added(_ news: (path: ObjectPath, interfaces: [String: [String: Value]])) {
        guard Self.hasReceiver(news.interfaces) else { return }
        modems.insert(news.path)
        if modem == nil { setUpFirst() }
    }

    private func removed(_ path: ObjectPath) {
        modems.remove(path)
        guard modem?.path == path || modem == nil else { return }
        modem = nil
        setUpFirst()
    }

    private static func hasReceiver(_ interfaces: [String: [String: Value]]) -> Bool {
        guard let location = interfaces[ModemInterface.location.string],
            case .uint32(let capabilities)? = location["Capabilities"]
        else { return false }
        return !ModemInterface.Sources(rawValue: capabilities)
            .isDisjoint(with: [.rawGPS, .sentences])
    }

    // MARK: One modem

    private func setUpFirst() {
        attempt += 1
        retry.take()?.cancel()
        guard receiver != nil else { return }
        guard let path = modems.min(by: { $0.string < $1.string }) else {
            return fail("no modem has a receiver")
        }
        let current = attempt
        LoopActor.task { [weak self] in await self?.setUp(path, current) }
    }

    private func setUp(_ path: ObjectPath, _ current: Int) async {
        let object = Proxy(
            connection,
            destination: ModemInterface.busName,
            path: path,
            interface: ModemInterface.location
        )
        do {
            let before = try await object.getAll()
            let capabilities = try Self.number(before["Capabilities"])
            let enabled = try Self.number(before["Enabled"])
            guard current == attempt, receiver != nil else { return }
            let wanted: ModemInterface.Sources =
                ModemInterface.Sources(rawValue: capabilities).contains(.sentences)
                ? .sentences : .rawGPS
            hasReport = false
            // Noted before it is asked for: who stops meanwhile sets it back.
            modem = Modem(
                path: path,
                enabledBefore: enabled,
                signalledBefore: before["SignalsLocation"]?.bool ?? false
            )
            // It gives the rate where it can, and is as good as it was where it cannot.
            try? connection.callWithoutReply(
                "SetGpsRefreshRate",
                on: ModemInterface.location,
                at: path,
                of: ModemInterface.busName,
                UInt32(1)
            )
            try await object.call("Setup", enabled | wanted.rawValue, true, timeout: .seconds(60))
            guard current == attempt, receiver != nil else { return }
            let location = try await object.call("GetLocation").results([UInt32: Value].self)
            guard current == attempt, receiver != nil else { return }
            recover()
            // What the modem has told meanwhile is newer: an answer is only looked at a turn later.
            if !hasReport { located(try Value(encoding: location)) }
        } catch {
            guard current == attempt, receiver != nil else { return }
            modem = nil
            fail("the modem does not tell its place: \(Self.text(error))")
            retry = clock.schedule(after: Self.retryPause) { [weak self] in self?.setUpFirst() }
        }
    }

    private func located(_ value: Value?) {
        guard let value, receiver != nil else { return }
        report = ModemReport(value)
        guard settling == nil else { return }
        settling = clock.schedule(after: Self.settlingTime) { [weak self] in self?.tell() }
    }

    private func tell() {
        settling = nil
        let now = Geo.Timestamp(microseconds: clock.microsecondsSinceEpoch)
        guard let fix = report.fix(now: now) else { return }
        // The same report comes again and again, with one sentence of it renewed.
        if let lastTold, fix.timestamp <= lastTold { return }
        lastTold = fix.timestamp
        receiver?(.fix(fix))
    }

    // MARK: Ends

    private func release() {
        if let modem, connection.isOpen {
            try? connection.callWithoutReply(
                "Setup",
                on: ModemInterface.location,
                at: modem.path,
                of: ModemInterface.busName,
                modem.enabledBefore,
                modem.signalledBefore
            )
        }
        forget()
    }

    private func forget() {
        life += 1
        attempt += 1
        modem = nil
        modems = []
        retry.take()?.cancel()
        settling.take()?.cancel()
    }

    private func fail(_ reason: String) {
        guard receiver != nil, self.reason != reason else { return }
        self.reason = reason
        log("source \(name): \(reason)")
        receiver?(.unavailable(reason: reason))
    }

    private func recover() {
        guard reason != nil else { return }
        reason = nil
        log("source \(name): the modem's receiver is there")
        receiver?(.available)
    }

    private static func number(_ value: Value?) throws(DBusError) -> UInt32 {
        guard case .uint32(let number)? = value else {
            throw DBusError(.failed, "ModemManager does not say what the modem can do")
        }
        return number
    }

    private static func text(_ error: any Error) -> String {
        (error as? DBusError)?.message ?? "\(error)"
    }
}
