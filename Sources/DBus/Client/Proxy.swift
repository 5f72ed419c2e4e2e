// SPDX-License-Identifier: Apache-2.0

public import EventLoop

/// An object of another connection, seen through one of its interfaces.
@LoopActor public struct Proxy {
    /// The connection to the bus.
    public let connection: Connection
    /// Who has the object.
    public let destination: BusName
    /// Where it is.
    public let path: ObjectPath
    /// Through which interface it is seen.
    public let interface: InterfaceName

    /// Makes a proxy; nothing is sent.
    public nonisolated init(
        _ connection: Connection,
        destination: BusName,
        path: ObjectPath,
        interface: InterfaceName
    ) {
        self.connection = connection
        self.destination = destination
        self.path = path
        self.interface = interface
    }

    /// Calls a method and waits for the answer; see
    /// ``Connection/call(_:on:at:of:_:flags:timeout:)``.
    @discardableResult
    public func call<each Input: DBusEncodable>(
        _ member: MemberName,
        _ arguments: repeat each Input,
        flags: CallFlags = [],
        timeout: Duration? = .seconds(25)
    ) async throws -> Reply {
        try await connection.call(
            member,
            on: interface,
            at: path,
            of: destination,
            repeat each arguments,
            flags: flags,
            timeout: timeout
        )
    }

    /// Calls a method with arguments whose types are only known now, and waits for the answer.
    ///
    /// - Parameters:
    ///   - member: The method.
    ///   - values: The arguments, each of which is written as its own type.
    ///   - flags: What the peer and the bus may do for the call.
    ///   - timeout: How long to wait; `nil` for as long as the connection lives.
    /// - Returns: The answer.
    /// - Throws: The peer's error; `NoReply` when time is up; `CancellationError` when the task
    ///   is cancelled.
    @discardableResult
    public func call(
        _ member: MemberName,
        values: [Value],
        flags: CallFlags = [],
        timeout: Duration? = .seconds(25)
    ) async throws -> Reply {
        var message = try Message.call(
            member,
            on: interface,
            at: path,
            of: destination,
            flags: flags
        )
        try message.append(contentsOf: values)
        return try await connection.call(message, timeout: timeout)
    }

    /// Fetches the value of a property.
    public func get<Content: DBusCodable>(
        _ property: MemberName,
        as type: Content.Type = Content.self
    ) async throws -> Content {
        let reply = try await properties("Get", interface.string, property.string)
        return try reply.results(Variant<Content>.self).content
    }

    /// Fetches the values of all properties.
    public func getAll() async throws -> [String: Value] {
        try await properties("GetAll", interface.string).results([String: Value].self)
    }

    /// Sets a property.
    public func set<Content: DBusCodable>(
        _ property: MemberName,
        to content: Content
    ) async throws {
        _ = try await properties("Set", interface.string, property.string, Variant(content))
    }

    private func properties<each Input: DBusEncodable>(
        _ member: MemberName,
        _ arguments: repeat each Input
    ) async throws -> Reply {
        try await connection.call(
            member,
            on: StandardInterfaces.properties,
            at: path,
            of: destination,
            repeat each arguments
        )
    }
}

/// A variant that holds a value of a type that is known at compile time.
public struct Variant<Content: DBusCodable>: DBusCodable {
    /// What it holds.
    public var content: Content

    /// Wraps a value.
    public init(_ content: Content) {
        self.content = content
    }

    /// The letter `v`.
    public static var signature: Signature { Value.signature }

    /// Writes a variant that holds the value.
    public func encode(into writer: inout MessageWriter) throws(DBusError) {
        try writer.appendVariant(of: Content.signature) { writer throws(DBusError) in
            try content.encode(into: &writer)
        }
    }

    /// Reads a variant that must hold a value of the type.
    public init(from reader: inout MessageReader) throws(DBusError) {
        var content: Content?
        try reader.readContainer(TypeCode.variant) { reader throws(DBusError) in
            guard reader.signatureOfNext == Content.signature else {
                throw DBusError(
                    .invalidArguments,
                    "expected a variant of “\(Content.signature)”,"
                        + " there is one of “\(reader.signatureOfNext)”"
                )
            }
            content = try Content(from: &reader)
        }
        guard let content else { throw DBusError(.invalidArguments, "a variant is empty") }
        self.content = content
    }
}
