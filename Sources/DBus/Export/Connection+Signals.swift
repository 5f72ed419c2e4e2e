// SPDX-License-Identifier: Apache-2.0

extension Connection {
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

    /// Emits a signal to each of some connections and to nobody else.
    ///
    /// It is written once, however many they are.
    ///
    /// - Parameters:
    ///   - signal: Which signal.
    ///   - path: The object that it comes from.
    ///   - destinations: Who gets it.
    ///   - arguments: The signal's arguments.
    /// - Throws: `Disconnected` on a closed connection, or an error if a value has no form on the
    ///   bus.
    public func emit<each Argument>(
        _ signal: Signal<repeat each Argument>,
        from path: ObjectPath,
        toEach destinations: some Sequence<BusName>,
        _ arguments: repeat each Argument
    ) throws(DBusError) {
        var message = try Message.signal(signal.name, of: signal.interface, from: path)
        try message.append(repeat each arguments)
        for destination in destinations { try send(message.copy(to: destination)) }
    }

    /// Tells that properties have new values (`org.freedesktop.DBus.Properties`), where an
    /// ``ExportedObject`` does not do so: see ``ExportedObject/propertiesChanged(_:of:)``.
    ///
    /// - Parameters:
    ///   - interface: The interface of the properties.
    ///   - path: The object.
    ///   - values: The new values by name.
    ///   - invalidated: The names of those whose values have to be asked for.
    ///   - destination: The only connection that is told; `nil` for all that listen.
    /// - Throws: `Disconnected` on a closed connection, or an error if a value has no form on the
    ///   bus.
    public func emitPropertiesChanged(
        of interface: InterfaceName,
        at path: ObjectPath,
        _ values: [String: Value],
        invalidated: [String] = [],
        to destination: BusName? = nil
    ) throws(DBusError) {
        try emitPropertiesChanged(
            of: interface,
            at: path,
            values.mapValues { PropertyContent(of: $0) },
            invalidated: invalidated,
            to: destination
        )
    }

    func emitPropertiesChanged(
        of interface: InterfaceName,
        at path: ObjectPath,
        _ values: [String: PropertyContent],
        invalidated: [String],
        to destination: BusName?
    ) throws(DBusError) {
        var message = try Message.signal(
            StandardInterfaces.propertiesChanged.name,
            of: StandardInterfaces.properties,
            from: path,
            to: destination
        )
        try message.append(interface, values, invalidated)
        try send(message)
    }
}
