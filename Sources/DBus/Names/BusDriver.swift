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

/// What became of a request for a name.
public enum NameRequest: UInt32, Hashable, Sendable {
    /// The connection owns the name now.
    case owner = 1
    /// Another connection owns it; this one follows when it lets go.
    case queued = 2
    /// Another connection owns it.
    case exists = 3
    /// The connection owned it before.
    case alreadyOwner = 4
}

/// How a name is requested (`RequestName` of the specification).
public struct NameFlags: OptionSet, Hashable, Sendable {
    /// The specification's bits.
    public let rawValue: UInt32

    /// Makes a set from the specification's bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Another connection may take the name over.
    public static let allowReplacement = NameFlags(rawValue: 1)
    /// Take the name over from an owner that allows it.
    public static let replaceExisting = NameFlags(rawValue: 2)
    /// Do not wait in the queue for the name.
    public static let doNotQueue = NameFlags(rawValue: 4)
}

extension Connection {
    /// Asks the bus for a well-known name.
    ///
    /// Export objects first: callers come at once.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - flags: What to do if it has an owner.
    /// - Returns: What became of it.
    /// - Throws: What the bus refuses with, such as `AccessDenied` by its policy.
    public func requestName(
        _ name: BusName,
        flags: NameFlags = .doNotQueue
    ) async throws -> NameRequest {
        let reply = try await driver("RequestName", name.string, flags.rawValue)
        guard let result = NameRequest(rawValue: try reply.results(UInt32.self)) else {
            throw DBusError(.failed, "the bus gave an unknown answer to RequestName")
        }
        return result
    }

    /// Gives a name back.
    public func releaseName(_ name: BusName) async throws {
        _ = try await driver("ReleaseName", name.string)
    }

    /// The connection that owns a name, `nil` if none does.
    ///
    /// Nothing is started.
    public func owner(of name: BusName) async throws -> BusName? {
        do {
            let reply = try await driver("GetNameOwner", name.string)
            return BusName(unchecked: try reply.results(String.self))
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
        setUniqueName(BusName(unchecked: try reply.results(String.self)))
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
}
