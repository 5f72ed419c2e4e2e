// SPDX-License-Identifier: Apache-2.0

internal import EventLoop

/// The bus's own object, by which connections get names and learn of each other.
enum BusDriver {
    static let name: BusName = "org.freedesktop.DBus"
    static let path: ObjectPath = "/org/freedesktop/DBus"
    static let interface: InterfaceName = "org.freedesktop.DBus"

    static let nameOwnerChanged = Signal<String, String, String>(
        "NameOwnerChanged",
        of: interface,
        arguments: ["name", "old_owner", "new_owner"]
    )
}

extension Connection {
    /// The connection that owns a name, `nil` if none does.
    ///
    /// Nothing is started.
    public func owner(of name: BusName) async throws -> BusName? {
        do {
            let reply = try await driver("GetNameOwner", name.string)
            return try Self.name(in: reply)
        } catch let error as DBusError where error.name == .nameHasNoOwner {
            return nil
        }
    }

    /// Starts the service that has a name, if the bus knows how and it is not running.
    public func startService(_ name: BusName) async throws {
        _ = try await driver("StartServiceByName", name.string, UInt32(0))
    }

    /// Registers with the bus, which gives the connection its name.
    func hello() async throws {
        let reply = try await driver("Hello")
        let name = try Self.name(in: reply)
        guard name.isUnique else {
            throw DBusError(.failed, "the bus gave a name that is no connection's own")
        }
        setUniqueName(name)
    }

    /// The name that a bus has answered with: what it says is no more to be trusted than what
    /// anybody else does, and libdbus would abort the program for a bad one.
    static func name(in reply: Reply) throws(DBusError) -> BusName {
        guard let name = BusName(validating: try reply.results(String.self)) else {
            throw DBusError(.failed, "the bus gave a name that is none")
        }
        return name
    }

    func driver<each Input: DBusEncodable>(
        _ member: MemberName,
        _ arguments: repeat each Input
    ) async throws -> Reply {
        try await call(
            member,
            on: BusDriver.interface,
            at: BusDriver.path,
            of: BusDriver.name,
            repeat each arguments
        )
    }

    /// Calls the bus and hands its answer to a closure, in the order of other arrivals.
    func startDriverCall<each Input: DBusEncodable>(
        _ member: MemberName,
        _ arguments: repeat each Input,
        then handler: @escaping @LoopActor (PendingCall.Outcome) -> Void
    ) throws(DBusError) {
        var message = try Message.call(
            member,
            on: BusDriver.interface,
            at: BusDriver.path,
            of: BusDriver.name
        )
        try message.append(repeat each arguments)
        try start(message, timeout: nil, handler)
    }
}
