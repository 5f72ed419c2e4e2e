// SPDX-License-Identifier: Apache-2.0

internal import EventLoop

/// A call that has arrived: who makes it, of what, and how it wants to be answered.
public struct Call: Sendable {
    /// The caller's unique name, as the bus says; `nil` between two peers without a bus.
    public let sender: BusName?

    /// The object that is called.
    public let path: ObjectPath

    /// The interface, `nil` if the caller leaves it open.
    public let interface: InterfaceName?

    /// The method.
    public let member: MemberName

    /// Whether the caller waits for an answer.
    public let expectsReply: Bool

    /// Whether the caller allows the person to be asked before it is answered.
    public let allowsInteractiveAuthorization: Bool

    /// The number that the answer refers to.
    let serial: UInt32

    /// The connection by which it came, `nil` when that has been let go of.
    weak let connection: Connection?

    init?(_ message: borrowing Message, over connection: Connection) {
        guard let path = message.path, let member = message.member else { return nil }
        self.path = path
        self.member = member
        self.connection = connection
        sender = message.sender
        interface = message.interface
        expectsReply = message.expectsReply
        allowsInteractiveAuthorization = message.allowsInteractiveAuthorization
        serial = message.serial
    }

    /// A look at an object's properties that no peer has asked for: to tell their changes.
    init(lookingAt path: ObjectPath, for reader: BusName?, over connection: Connection) {
        self.path = path
        self.connection = connection
        sender = reader
        interface = StandardInterfaces.properties
        member = "GetAll"
        expectsReply = false
        allowsInteractiveAuthorization = false
        serial = 0
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
