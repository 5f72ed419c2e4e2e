// SPDX-License-Identifier: Apache-2.0

public import EventLoop

/// The answer to a call.
@LoopActor public final class Reply {
    private let message: Message

    init(_ message: consuming Message) {
        self.message = message
    }

    /// The unique name of the connection that has answered.
    public var sender: BusName? { message.sender }

    /// The types of the results.
    public var signature: Signature { message.signature }

    /// Reads all results.
    ///
    /// - Parameter types: The types that are expected, no more and no fewer.
    /// - Returns: The results, as a tuple if there are several.
    /// - Throws: `InvalidArgs` if the peer has sent others.
    public func results<each Output: DBusDecodable>(
        _ types: repeat (each Output).Type
    ) throws(DBusError) -> (repeat each Output) {
        try message.arguments(repeat each types)
    }

    /// Reads the only result.
    ///
    /// - Parameter type: The type that is expected.
    /// - Returns: The result.
    /// - Throws: `InvalidArgs` if the peer has sent another, or not one.
    public func results<Output: DBusDecodable>(
        _ type: Output.Type
    ) throws(DBusError) -> Output {
        try message.arguments(type)
    }

    /// Reads all results, whatever their types.
    ///
    /// - Returns: The results.
    /// - Throws: If this process cannot open the descriptors among them.
    public func values() throws(DBusError) -> [Value] {
        try message.values()
    }
}
