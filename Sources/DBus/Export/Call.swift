// SPDX-License-Identifier: Apache-2.0

/// A call that has arrived: who makes it, of what, and how it wants to be answered.
public struct Call: Hashable, Sendable {
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

    init?(_ message: borrowing Message) {
        guard let path = message.path, let member = message.member else { return nil }
        self.path = path
        self.member = member
        sender = message.sender
        interface = message.interface
        expectsReply = message.expectsReply
        allowsInteractiveAuthorization = message.allowsInteractiveAuthorization
        serial = message.serial
    }
}
