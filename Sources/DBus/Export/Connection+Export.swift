// SPDX-License-Identifier: Apache-2.0

internal import EventLoop

extension Connection {
    /// Exports an object: calls of its methods are handled from now on.
    ///
    /// Every object also has `Introspectable`, `Properties` and `Peer`. Export objects before
    /// requesting the name by which callers find them.
    ///
    /// - Parameters:
    ///   - interfaces: What the object can do.
    ///   - path: Where it is; there must be no other.
    ///   - owner: The only connection that can see it; `nil` if all can.
    public func export(
        _ interfaces: [Interface],
        at path: ObjectPath,
        visibleTo owner: BusName? = nil
    ) {
        objects.insert(ExportedObject(interfaces: interfaces, visibleTo: owner), at: path)
    }

    /// Takes an exported object back: its path is unknown to callers from now on.
    public func withdraw(_ path: ObjectPath) {
        objects.remove(at: path)
    }

    /// Emits a signal.
    ///
    /// - Parameters:
    ///   - signal: Which signal.
    ///   - path: The object that it comes from.
    ///   - destination: The only connection that gets it; `nil` for all that listen.
    ///   - arguments: The signal's arguments.
    /// - Throws: `Disconnected` on a closed connection, or an error if a value has no form on the
    ///   bus.
    public func emit<each Argument>(
        _ signal: Signal<repeat each Argument>,
        from path: ObjectPath,
        to destination: BusName? = nil,
        _ arguments: repeat each Argument
    ) throws(DBusError) {
        var message = try Message.signal(
            signal.name,
            of: signal.interface,
            from: path,
            to: destination
        )
        try message.append(repeat each arguments)
        try send(message)
    }

    /// Tells that properties have new values (`org.freedesktop.DBus.Properties`).
    ///
    /// - Parameters:
    ///   - interface: The interface of the properties.
    ///   - path: The object.
    ///   - values: The new values by name.
    ///   - destination: The only connection that is told; `nil` for all that listen.
    /// - Throws: `Disconnected` on a closed connection, or an error if a value has no form on the
    ///   bus.
    public func emitPropertiesChanged(
        of interface: InterfaceName,
        at path: ObjectPath,
        _ values: [String: Value],
        to destination: BusName? = nil
    ) throws(DBusError) {
        let nothing: [String] = []
        try emit(
            StandardInterfaces.propertiesChanged,
            from: path,
            to: destination,
            interface.string,
            values,
            nothing
        )
    }

    // MARK: Incoming calls

    /// Finds who handles a call, and answers it if nobody does.
    func handle(_ call: Call, _ message: borrowing Message) {
        let answer = Answer(to: call, over: self)
        do {
            try method(for: call).run(call, message, answer)
        } catch {
            answer.fail(error)
        }
    }

    private func method(for call: Call) throws(DBusError) -> Method {
        let object = objects.object(at: call.path, for: call.sender)
        // Nodes on the way to an object can be introspected, so that tools find their way.
        guard object != nil || !objects.children(of: call.path, for: call.sender).isEmpty else {
            throw DBusError(.unknownObject, "there is no object at “\(call.path)”")
        }
        // Most calls are of the object's own interfaces: the standard ones are made when needed.
        if let object, let method = try method(for: call, in: object.interfaces) {
            return method
        }
        let standard = StandardInterfaces.all(of: object, at: call.path, in: objects)
        if let method = try method(for: call, in: standard) { return method }
        if let name = call.interface {
            throw DBusError(
                .unknownInterface,
                "the object at “\(call.path)” has no interface “\(name)”"
            )
        }
        throw DBusError(
            .unknownMethod,
            "the object at “\(call.path)” has no method “\(call.member)”"
        )
    }

    /// The method of one of some interfaces, `nil` if none of them is meant.
    private func method(for call: Call, in interfaces: [Interface]) throws(DBusError) -> Method? {
        guard let name = call.interface else {
            return interfaces.lazy.compactMap { $0.method(call.member) }.first
        }
        guard let interface = interfaces.first(where: { $0.name == name }) else { return nil }
        if let method = interface.method(call.member) { return method }
        throw DBusError(
            .unknownMethod,
            "the interface “\(name)” has no method “\(call.member)”"
        )
    }
}
