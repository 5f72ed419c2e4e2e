// SPDX-License-Identifier: Apache-2.0

internal import CDBus
public import EventLoop

/// A private connection to a message bus, driven by the event loop.
///
/// Messages of one sender begin to be handled in the order in which they arrive. The connection
/// lives until ``close()`` or until the bus goes away, which ``onDisconnect`` tells.
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

    /// The name that the bus has given to this connection.
    public private(set) var uniqueName: BusName

    /// Called once when the bus has gone away, not after ``close()``.
    public var onDisconnect: (@LoopActor () -> Void)?

    /// How much may be sent at a time.
    public var limits = SendingLimits()

    /// Whether messages can still be sent.
    public var isOpen: Bool { library != nil }

    let objects = ObjectTree()
    let signals = SignalRouter()
    let handlers = HandlerOrder()
    let peers = PeerWatches()

    /// libdbus's connection, owned: closed and given back by ``close()``.
    private(set) var library: OpaquePointer?
    /// Calls of this side that wait for their answers.
    var waiting: Set<PendingCall> = []
    private var bridge: LoopBridge?
    private var isFiltered = false
    private var isDispatchScheduled = false

    /// Connects to a bus and registers there.
    ///
    /// - Parameter bus: Which bus.
    /// - Returns: A connection that has its unique name.
    /// - Throws: What the bus or the system answers.
    public static func open(_ bus: Bus) async throws -> Connection {
        let connection = try Connection(address: address(of: bus))
        do {
            try await connection.hello()
        } catch {
            connection.close()
            throw error
        }
        return connection
    }

    private init(address: String) throws(DBusError) {
        let pointer = try withLibraryError { error in
            dbus_connection_open_private(address, error)
        }
        guard let pointer else { throw .outOfMemory }
        library = pointer
        uniqueName = BusName(unchecked: "")
        dbus_connection_set_exit_on_disconnect(pointer, 0)
        let bridge = LoopBridge(pointer) { [weak self] in self?.scheduleDispatch() }
        self.bridge = bridge
        let context = Unmanaged.passUnretained(self).toOpaque()
        guard dbus_connection_add_filter(pointer, handleMessage, context, nil) != 0 else {
            throw .outOfMemory
        }
        isFiltered = true
        scheduleDispatch()
    }

    isolated deinit {
        close()
    }

    /// Ends the connection.
    ///
    /// Its names, objects and matches are gone, calls that wait are answered with `Disconnected`.
    /// Without effect on a closed connection.
    public func close() {
        guard let library else { return }
        dbus_connection_close(library)
        tearDown()
        // Let go of last, when nothing is half done: what it holds may end, and close this again.
        _ = onDisconnect.take()
    }

    private func tearDown() {
        guard let library else { return }
        self.library = nil
        if isFiltered {
            dbus_connection_remove_filter(
                library,
                handleMessage,
                Unmanaged.passUnretained(self).toOpaque()
            )
        }
        bridge?.detach()
        bridge = nil
        objects.removeAll()
        signals.removeAll()
        for call in waiting { call.end(DBusError.closed) }
        dbus_connection_unref(library)
    }

    /// Sends a message, without waiting for it to leave.
    ///
    /// The C function is `dbus_connection_send`.
    ///
    /// - Throws: `Disconnected` on a closed connection, `LimitsExceeded` beyond ``limits``,
    ///   `NotSupported` if the bus cannot carry descriptors.
    public func send(_ message: borrowing Message) throws(DBusError) {
        let library = try allow(message)
        guard dbus_connection_send(library, message.pointer, nil) != 0 else { throw .outOfMemory }
    }

    /// Returns libdbus's connection if it may send a message.
    func allow(_ message: borrowing Message) throws(DBusError) -> OpaquePointer {
        guard let library else { throw .closed }
        try limits.allow(message, queued: dbus_connection_get_outgoing_size(library))
        guard
            message.descriptorCount == 0
                || dbus_connection_can_send_type(library, TypeCode.unixDescriptor) != 0
        else { throw DBusError(.notSupported, "the bus cannot carry descriptors") }
        return library
    }

    /// Gives the connection its name, once.
    func setUniqueName(_ name: BusName) {
        uniqueName = name
        if let library { dbus_bus_set_unique_name(library, name.string) }
    }

    // MARK: Dispatch

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
            guard let library else { return }
            guard dbus_connection_dispatch(library) == DBUS_DISPATCH_DATA_REMAINS else { return }
        }
        scheduleDispatch()
    }

    fileprivate func receive(_ message: borrowing Message) {
        switch message.kind {
        case .methodCall:
            if let call = Call(message) { handle(call, message) }
        case .signal:
            if message.sender == nil, message.interface == "org.freedesktop.DBus.Local",
                message.member == "Disconnected"
            {
                lost()
            } else {
                signals.route(message)
            }
        case .methodReturn, .error, .unknown:
            // A late answer to a call that nobody waits for any more.
            break
        }
    }

    /// The last message of a connection has arrived.
    private func lost() {
        let onDisconnect = onDisconnect.take()
        tearDown()
        onDisconnect?()
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
