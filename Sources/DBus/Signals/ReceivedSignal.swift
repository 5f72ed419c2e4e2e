// SPDX-License-Identifier: Apache-2.0

public import EventLoop

/// A signal that has arrived.
@LoopActor public final class ReceivedSignal {
    private let message: Message

    init(_ message: consuming Message) {
        self.message = message
    }

    /// The unique name of the connection that has sent it, or the bus's own name.
    public var sender: BusName? { message.sender }

    /// The object that it comes from.
    public var path: ObjectPath? { message.path }

    /// Its interface.
    public var interface: InterfaceName? { message.interface }

    /// Its name.
    public var member: MemberName? { message.member }

    /// Reads all arguments.
    ///
    /// - Parameter types: The types that are expected, no more and no fewer.
    /// - Returns: The arguments, as a tuple if there are several.
    /// - Throws: `InvalidArgs` if the signal has others.
    public func arguments<each Argument: DBusDecodable>(
        _ types: repeat (each Argument).Type
    ) throws(DBusError) -> (repeat each Argument) {
        try message.arguments(repeat each types)
    }

    /// Reads all arguments, whatever their types.
    ///
    /// - Returns: The arguments.
    /// - Throws: If this process cannot open the descriptors among them.
    public func values() throws(DBusError) -> [Value] {
        try message.values()
    }
}
