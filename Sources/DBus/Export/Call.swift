// SPDX-License-Identifier: Apache-2.0

internal import EventLoop

/// A call that has arrived: who makes it, of what, and how it wants to be answered.
public struct Call: Sendable {
    /// The caller's unique name, as the bus says; `nil` between two peers without a bus.
    public var sender: BusName? { content.sender }

    /// The object that is called.
    public var path: ObjectPath { content.path }

    /// The interface, `nil` if the caller leaves it open.
    public var interface: InterfaceName? { content.interface }

    /// The method.
    public var member: MemberName { content.member }

    /// Whether the caller waits for an answer.
    public var expectsReply: Bool { content.expectsReply }

    /// Whether the caller allows the person to be asked before it is answered.
    public var allowsInteractiveAuthorization: Bool { content.allowsInteractiveAuthorization }

    /// The number that the answer refers to.
    var serial: UInt32 { content.serial }

    /// The connection by which it came, `nil` when that has been let go of.
    var connection: Connection? { content.connection }

    /// Shared by all copies: a call passes through many hands.
    private let content: Content

    private final class Content: Sendable {
        let sender: BusName?
        let path: ObjectPath
        let interface: InterfaceName?
        let member: MemberName
        let expectsReply: Bool
        let allowsInteractiveAuthorization: Bool
        let serial: UInt32
        weak let connection: Connection?

        init(
            _ path: ObjectPath,
            _ interface: InterfaceName?,
            _ member: MemberName,
            from sender: BusName?,
            expectsReply: Bool = false,
            allowsInteractiveAuthorization: Bool = false,
            serial: UInt32 = 0,
            over connection: Connection
        ) {
            self.path = path
            self.interface = interface
            self.member = member
            self.sender = sender
            self.expectsReply = expectsReply
            self.allowsInteractiveAuthorization = allowsInteractiveAuthorization
            self.serial = serial
            self.connection = connection
        }
    }

    init?(_ message: borrowing Message, over connection: Connection) {
        guard let path = message.path, let member = message.member else { return nil }
        content = Content(
            path,
            message.interface,
            member,
            from: message.sender,
            expectsReply: message.expectsReply,
            allowsInteractiveAuthorization: message.allowsInteractiveAuthorization,
            serial: message.serial,
            over: connection
        )
    }

    /// A look at an object's properties that no peer has asked for: to tell their changes.
    init(lookingAt path: ObjectPath, for reader: BusName?, over connection: Connection) {
        let interface = StandardInterfaces.properties
        content = Content(path, interface, "GetAll", from: reader, over: connection)
    }
}

extension Call {
    /// Asks the bus who the caller is.
    ///
    /// - Returns: The caller's credentials at the time when it connected.
    /// - Throws: `NameHasNoOwner` if it has gone.
    @LoopActor public func credentials() async throws -> Credentials {
        guard let connection, let sender else { throw DBusError.closed }
        return try await connection.credentials(of: sender)
    }
}
