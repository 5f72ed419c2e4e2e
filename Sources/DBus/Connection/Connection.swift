// SPDX-License-Identifier: Apache-2.0

internal import CDBus
public import EventLoop

/// A private connection to a message bus, driven by the event loop.
///
/// Messages of one sender begin to be handled in the order in which they arrive. What becomes of
/// the connection when the bus goes away is the user's choice: see ``LossPolicy``.
@LoopActor public final class Connection {
    /// Which bus to connect to.
    public enum Bus: Hashable, Sendable {
        /// The machine's bus: `DBUS_SYSTEM_BUS_ADDRESS` or the well-known socket.
        case system
        /// The login session's bus: `DBUS_SESSION_BUS_ADDRESS` or the user's socket.
        case session
        /// The bus at an address, such as `unix:path=/run/bus`.
        case address(String)
    }

    /// What becomes of a connection when the bus goes away.
    public enum LossPolicy: Hashable, Sendable {
        /// It ends, like one that is closed.
        case end
        /// It connects again when the bus is back, under another unique name.
        ///
        /// What waits for an answer fails with `Disconnected`. Objects stay exported,
        /// subscriptions, watches and well-known names are restored before
        /// ``Connection/onReconnect`` is called.
        case reconnect
    }

    /// The name that the bus has given to this connection.
    public private(set) var uniqueName = BusName(unchecked: "")

    /// Called when the bus has gone away, not after ``close()``: once, or each time for a
    /// connection that reconnects.
    public var onDisconnect: (@LoopActor () -> Void)?

    /// Called when a connection that was lost is there again, with all that it had.
    public var onReconnect: (@LoopActor () -> Void)?

    /// How much may be sent at a time.
    public var limits = SendingLimits()

    /// Whether messages can be sent now.
    public var isOpen: Bool { library != nil }

    /// Whether it will never be open again.
    public private(set) var isEnded = false

    let objects = ObjectTree()
    let signals = SignalRouter()
    let matches = MatchRules()
    let handlers = HandlerOrder()
    let peers = PeerWatches()
    let owners = NameOwners()
    let names = OwnedNames()

    /// libdbus's connection, owned: closed and given back by ``close()``.
    private(set) var library: OpaquePointer?
    /// Calls of this side that wait for their answers.
    private var waiting: Set<PendingCall> = []
    /// Who waits until all is written.
    var flushes: [Completion] = []
    private let ended = Completion()
    private var address: String
    private let policy: LossPolicy
    private let timekeeper: any Timekeeper
    private var reconnection: Task<Void, any Error>?
    private var bridge: LoopBridge?
    private var isFiltered = false
    private var isDispatchScheduled = false
    private var pauseCount = 0

    /// Connects to a bus and registers there.
    ///
    /// - Parameters:
    ///   - bus: Which bus.
    ///   - policy: What becomes of the connection when the bus goes away.
    ///   - timekeeper: What measures the pauses between attempts to connect again.
    /// - Returns: A connection that has its unique name.
    /// - Throws: What the bus or the system answers.
    public static func open(
        _ bus: Bus,
        whenLost policy: LossPolicy = .end,
        timekeeper: any Timekeeper = SystemTimekeeper.shared
    ) async throws -> Connection {
        let connection = Connection(address: address(of: bus), policy, timekeeper)
        do {
            try connection.attach()
            try await connection.hello()
        } catch {
            connection.close()
            throw error
        }
        return connection
    }

    private init(address: String, _ policy: LossPolicy, _ timekeeper: any Timekeeper) {
        self.address = address
        self.policy = policy
        self.timekeeper = timekeeper
    }

    isolated deinit {
        close()
    }

    /// Ends the connection.
    ///
    /// Its names, objects and matches are gone, calls that wait are answered with `Disconnected`.
    /// Without effect on a connection that has ended.
    public func close() {
        guard !isEnded else { return }
        if let library { dbus_connection_close(library) }
        end()
        // Let go of last, when nothing is half done: what they hold may end, and close this again.
        _ = onDisconnect.take()
        _ = onReconnect.take()
    }

    private func end() {
        isEnded = true
        reconnection.take()?.cancel()
        detach()
        objects.removeAll()
        signals.removeAll()
        matches.removeAll()
        owners.removeAll()
        names.removeAll()
        handlers.cancelAll()
        ended.complete()
    }

    /// Waits until the connection has ended, closed or lost for good, or the task is cancelled.
    public func waitForEnd() async {
        try? await ended.wait()
    }

    /// Gives the connection its name.
    func setUniqueName(_ name: BusName) {
        uniqueName = name
        if let library { dbus_bus_set_unique_name(library, name.string) }
    }

    // MARK: libdbus's connection

    private func attach() throws(DBusError) {
        let pointer = try withLibraryError { error in
            dbus_connection_open_private(address, error)
        }
        guard let pointer else { throw .outOfMemory }
        library = pointer
        dbus_connection_set_exit_on_disconnect(pointer, 0)
        // libdbus would stop reading while so much of what it has read is in use, answers included.
        dbus_connection_set_max_received_size(pointer, CLong.max)
        dbus_connection_set_max_received_unix_fds(pointer, CLong.max)
        bridge = LoopBridge(
            pointer,
            wantsDispatch: { [weak self] in self?.scheduleDispatch() },
            hasWritten: { [weak self] in self?.scheduleFlushed() }
        )
        let context = Unmanaged.passUnretained(self).toOpaque()
        guard dbus_connection_add_filter(pointer, handleMessage, context, nil) != 0 else {
            throw .outOfMemory
        }
        isFiltered = true
        updateReading()
    }

    private func detach() {
        guard let library else { return }
        self.library = nil
        if isFiltered {
            dbus_connection_remove_filter(
                library,
                handleMessage,
                Unmanaged.passUnretained(self).toOpaque()
            )
            isFiltered = false
        }
        bridge?.detach()
        bridge = nil
        matches.lost()
        for call in waiting { call.end(DBusError.closed) }
        for flush in exchange(&flushes, with: []) { flush.complete(.failure(DBusError.closed)) }
        dbus_connection_unref(library)
    }

    // MARK: Loss

    /// The last message of libdbus's connection has arrived.
    private func lost() {
        switch policy {
        case .end:
            letGo()
            guard !isEnded else { return }
            let onDisconnect = onDisconnect.take()
            end()
            onDisconnect?()
            _ = onReconnect.take()
        case .reconnect:
            letGo()
            onDisconnect?()
            if !isEnded, reconnection == nil { reconnect() }
        }
    }

    /// Lets go of what was connected to, and tells those whom that concerns.
    private func letGo() {
        detach()
        peers.lost()
        owners.lost()
        names.lost()
    }

    /// Tries to connect until it succeeds: soon at first, as a bus that is restarted is back at
    /// once, and then every few seconds.
    private func reconnect() {
        // The identifier of a bus in its address is another one when it has been restarted.
        address = address.split(separator: ";").map { alternative in
            alternative.split(separator: ",").filter { !$0.hasPrefix("guid=") }
                .joined(separator: ",")
        }.joined(separator: ";")
        reconnection = LoopActor.task { [weak self, timekeeper] in
            var pause = Duration.milliseconds(50)
            while true {
                try await timekeeper.sleep(for: pause)
                guard let self else { return }
                if await self.tryToReconnect(), self.isOpen { break }
                pause = min(pause * 2, .seconds(5))
            }
            self?.reconnection = nil
            self?.onReconnect?()
        }
    }

    private func tryToReconnect() async -> Bool {
        do {
            try attach()
            try await hello()
            try matches.restore(on: self)
            try owners.restore(on: self)
            try await names.restore(on: self)
            return isOpen
        } catch {
            // The bus may still be there; libdbus would abort the program for letting go of it.
            if let library {
                dbus_connection_close(library)
                letGo()
            }
            return false
        }
    }

    // MARK: Dispatch

    /// Stops taking messages until as many ``resume()`` have come, so that the bus keeps what this
    /// side cannot take; while calls wait for their answers it goes on.
    func pause() {
        pauseCount += 1
        updateReading()
    }

    /// Takes messages again.
    func resume() {
        pauseCount -= 1
        updateReading()
    }

    /// Keeps a call that waits for its answer.
    func began(_ call: PendingCall) {
        waiting.insert(call)
        if pauseCount > 0, waiting.count == 1 { updateReading() }
    }

    /// Lets go of a call that has its answer.
    func finished(_ call: PendingCall) {
        waiting.remove(call)
        if pauseCount > 0, waiting.isEmpty { updateReading() }
    }

    /// Of a bus that has gone nothing more comes than what is here, and who waits for the end of
    /// the connection is to be told of it.
    private var isTaking: Bool { pauseCount == 0 || !waiting.isEmpty || !isConnected }

    private func updateReading() {
        bridge?.isReading = isTaking
        if isTaking { scheduleDispatch() }
    }

    private func scheduleDispatch() {
        guard !isDispatchScheduled else { return }
        isDispatchScheduled = true
        EventLoop.shared.perform { [self] in dispatch() }
    }

    /// Hands over messages that have arrived: so many at a time that other descriptors and timers
    /// keep their turn.
    private func dispatch() {
        isDispatchScheduled = false
        for _ in 0..<64 {
            guard let library, isTaking else { return }
            guard dbus_connection_dispatch(library) == DBUS_DISPATCH_DATA_REMAINS else { return }
        }
        scheduleDispatch()
    }

    fileprivate func receive(_ message: borrowing Message) {
        switch message.kind {
        case .methodCall:
            if let call = Call(message, over: self) { handle(call, message) }
        case .signal:
            if message.sender == nil, message.interface == "org.freedesktop.DBus.Local",
                message.member == "Disconnected"
            {
                lost()
            } else {
                names.route(message)
                signals.route(message)
            }
        case .methodReturn, .error, .unknown:
            // A late answer to a call that nobody waits for any more.
            break
        }
    }

    private nonisolated static func address(of bus: Bus) -> String {
        switch bus {
        case .system:
            environment("DBUS_SYSTEM_BUS_ADDRESS") ?? "unix:path=/run/dbus/system_bus_socket"
        case .session:
            environment("DBUS_SESSION_BUS_ADDRESS")
                ?? environment("XDG_RUNTIME_DIR").map { "unix:path=\($0)/bus" } ?? "autolaunch:"
        case .address(let address): address
        }
    }
}

extension DBusError {
    static var closed: DBusError { DBusError(.disconnected, "the connection is closed") }
}

/// libdbus's message filter, the one way by which messages arrive.
private let handleMessage: DBusHandleMessageFunction = { _, message, context in
    guard let message, let context else { return DBUS_HANDLER_RESULT_NOT_YET_HANDLED }
    nonisolated(unsafe) let (pointer, owner) = (message, context)
    LoopActor.assumeIsolated {
        let connection = Unmanaged<Connection>.fromOpaque(owner).takeUnretainedValue()
        connection.receive(Message(retaining: pointer))
    }
    return DBUS_HANDLER_RESULT_HANDLED
}
