// SPDX-License-Identifier: Apache-2.0

public import EventLoop

/// One object that a connection exports: its interfaces, and who may see it.
///
/// It stays exported when this is let go of, until it is withdrawn or the connection ends. Then it
/// lets go of its handlers, so that what they hold may hold it.
@LoopActor public final class ExportedObject {
    /// Where it is.
    public let path: ObjectPath

    /// The only connection that can see it; `nil` if all can.
    public let owner: BusName?
    private(set) var interfaces: [Interface]

    /// The interfaces that every object has, made when they are first needed.
    private(set) lazy var standardInterfaces = StandardInterfaces.all(beside: interfaces)
    private var isWithdrawn = false
    private(set) weak var connection: Connection?
    /// Properties whose changes are to be told, in the order in which they changed.
    private var changes: [(interface: Interface, property: Property)] = []

    init(
        _ interfaces: [Interface],
        at path: ObjectPath,
        visibleTo owner: BusName?,
        on connection: Connection
    ) {
        self.interfaces = interfaces
        self.path = path
        self.owner = owner
        self.connection = connection
    }

    func isVisible(to caller: BusName?) -> Bool {
        owner == nil || owner == caller
    }

    /// Takes the object back: its path is unknown to callers from now on.
    public func withdraw() {
        if connection?.objects[path] === self { connection?.withdraw(path) }
    }

    /// Lets go of the handlers of an object that is not exported any more.
    func letGo() {
        isWithdrawn = true
        // Let go of last: what they hold may end, and use this.
        let handlers = (exchange(&interfaces, with: []), exchange(&standardInterfaces, with: []))
        changes = []
        _ = handlers
    }

    /// Emits a signal: to all that listen, or to the object's owner if it has one.
    ///
    /// - Parameters:
    ///   - signal: Which signal.
    ///   - arguments: The signal's arguments.
    /// - Throws: `Disconnected` on a closed connection, or an error if a value has no form on the
    ///   bus.
    public func emit<each Argument>(
        _ signal: Signal<repeat each Argument>,
        _ arguments: repeat each Argument
    ) throws(DBusError) {
        guard let connection else { throw .closed }
        try connection.emit(signal, from: path, to: owner, repeat each arguments)
    }

    /// Tells that properties have new values, in the way that each was declared with.
    ///
    /// What changes in one turn of the loop is told in one signal for each interface, with the
    /// values that the properties have by then.
    ///
    /// - Parameters:
    ///   - properties: Their names.
    ///   - name: Their interface, which the object must have.
    public func propertiesChanged(_ properties: MemberName..., of name: InterfaceName) {
        guard !isWithdrawn else { return }
        guard let interface = interfaces.first(where: { $0.name == name }) else {
            preconditionFailure("the object has no interface \(name)")
        }
        let isFirst = changes.isEmpty
        for name in properties {
            guard let property = interface.property(name.string), property.notice != .constant
            else { preconditionFailure("\(interface.name) has no \(name) that can change") }
            if property.notice == .none { continue }
            if changes.contains(where: {
                $0.interface.name == interface.name && $0.property.name == name
            }) {
                continue
            }
            changes.append((interface, property))
        }
        guard isFirst, !changes.isEmpty else { return }
        EventLoop.shared.perform { [weak self] in self?.tellChanges() }
    }

    private func tellChanges() {
        let changes = exchange(&changes, with: [])
        guard let connection, connection.objects[path] === self else { return }
        let look = Call(lookingAt: path, for: owner, over: connection)
        var told: [InterfaceName] = []
        for (interface, _) in changes where !told.contains(interface.name) {
            told.append(interface.name)
            guard interface.isVisible(to: look) else { continue }
            var values: [String: PropertyContent] = [:]
            var invalidated: [String] = []
            for (other, property) in changes where other.name == interface.name {
                // A value that cannot be had now is asked for by those who need it.
                if property.notice == .value, let content = try? property.get(look) {
                    values[property.name.string] = content
                } else {
                    invalidated.append(property.name.string)
                }
            }
            do {
                try connection.emitPropertiesChanged(
                    of: interface.name,
                    at: path,
                    values,
                    invalidated: invalidated,
                    to: owner
                )
            } catch {
                // A value may have no form on the bus, or be too much for it.
                try? connection.emitPropertiesChanged(
                    of: interface.name,
                    at: path,
                    [:] as [String: PropertyContent],
                    invalidated: invalidated + values.keys,
                    to: owner
                )
            }
        }
    }
}
