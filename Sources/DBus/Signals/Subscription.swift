// SPDX-License-Identifier: Apache-2.0

public import EventLoop

/// A standing wish for signals, until it is cancelled or let go of.
@LoopActor public final class Subscription {
    private weak var connection: Connection?
    private let key: UInt64
    private let rule: String

    fileprivate init(_ connection: Connection, key: UInt64, rule: String) {
        self.connection = connection
        self.key = key
        self.rule = rule
    }

    isolated deinit {
        cancel()
    }

    /// Ends it: the handler is not called again, and the bus sends no more such signals for it.
    public func cancel() {
        guard let connection, connection.signals.remove(key), connection.isOpen else { return }
        try? connection.callWithoutReply(
            "RemoveMatch",
            on: BusDriver.interface,
            at: BusDriver.path,
            of: BusDriver.name,
            rule
        )
    }
}

extension Connection {
    /// Asks the bus for signals, and handles them as they come.
    ///
    /// - Parameters:
    ///   - match: Which signals.
    ///   - handler: Called for each; it borrows the message.
    /// - Returns: What to hold for as long as they are wanted.
    /// - Throws: `Disconnected` on a closed connection.
    public func subscribe(
        to match: SignalMatch,
        _ handler: @escaping @LoopActor (borrowing Message) -> Void
    ) throws(DBusError) -> Subscription {
        let key = signals.add(match, handler)
        let subscription = Subscription(self, key: key, rule: match.rule)
        try callWithoutReply(
            "AddMatch",
            on: BusDriver.interface,
            at: BusDriver.path,
            of: BusDriver.name,
            match.rule
        )
        return subscription
    }

    /// Asks for one signal of an object, with its arguments in their types.
    ///
    /// A signal with other arguments than were declared is passed over: its sender is at fault.
    ///
    /// - Parameters:
    ///   - signal: Which signal.
    ///   - path: The object.
    ///   - sender: The connection that has the object; best its unique name.
    ///   - handler: Called for each signal.
    /// - Returns: What to hold for as long as they are wanted.
    /// - Throws: `Disconnected` on a closed connection.
    public func subscribe<each Argument>(
        to signal: Signal<repeat each Argument>,
        from path: ObjectPath,
        of sender: BusName,
        _ handler: @escaping @LoopActor (repeat each Argument) -> Void
    ) throws(DBusError) -> Subscription {
        let match = SignalMatch(
            sender: sender,
            path: path,
            interface: signal.interface,
            member: signal.name
        )
        return try subscribe(to: match) { message in
            guard let arguments = try? message.arguments(repeat (each Argument).self) else {
                return
            }
            handler(repeat each arguments)
        }
    }
}
