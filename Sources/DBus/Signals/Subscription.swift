// SPDX-License-Identifier: Apache-2.0

public import EventLoop

/// A standing wish for signals, until it is cancelled or let go of.
@LoopActor public final class Subscription {
    private weak var connection: Connection?
    private var route: SignalRouter.Route?
    private let rule: String

    init(_ connection: Connection, _ route: SignalRouter.Route, rule: String) {
        self.connection = connection
        self.route = route
        self.rule = rule
    }

    isolated deinit {
        cancel()
    }

    /// Ends it: the handler is not called again, and the bus sends no more such signals for it.
    public func cancel() {
        guard let connection, let route = route.take() else { return }
        connection.matches.remove(rule, on: connection)
        connection.signals.remove(route)
    }

    /// Waits until the bus has taken note of the wish.
    ///
    /// There is no need to: calls that are sent after subscribing reach their peers after the bus
    /// has. It is how to learn that the bus refuses, since a connection can have only so many.
    ///
    /// - Throws: What the bus refuses with, such as `LimitsExceeded`; `CancellationError` when the
    ///   task is cancelled.
    public func established() async throws {
        guard connection != nil, route != nil else { throw DBusError.closed }
        let answer = Completion()
        onAnswer { error in answer.complete(error.map { .failure($0) } ?? .success(())) }
        try await answer.wait()
    }

    /// Calls a closure when the bus has taken note (`nil`) or refuses.
    ///
    /// Of a sender's well-known name it has to tell the owners as well.
    func onAnswer(_ handler: @escaping MatchRules.Listener) {
        guard let connection, let route else { return }
        connection.matches.whenAnswered(rule) { [weak connection] error in
            guard error == nil, let name = route.owner?.name else { return handler(error) }
            guard let connection else { return handler(.closed) }
            connection.owners.whenAnswered(name, handler)
        }
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
        try subscribe(to: match, onEnd: nil, handler)
    }

    /// Like ``subscribe(to:_:)``; a second closure is called when the connection ends.
    func subscribe(
        to match: SignalMatch,
        onEnd: (@LoopActor () -> Void)?,
        _ handler: @escaping @LoopActor (borrowing Message) -> Void
    ) throws(DBusError) -> Subscription {
        guard !isEnded else { throw .closed }
        // Anybody can send a signal to this connection alone, past the bus's match rules: that it
        // comes from the owner of the name has to be seen to here.
        let sender = match.sender
        let isFixed = sender == nil || sender?.isUnique == true || sender == BusDriver.name
        let owner = isFixed ? nil : try sender.map { name throws(DBusError) in try watch(name) }
        let rule = match.rule
        try matches.add(rule, on: self)
        return Subscription(
            self,
            signals.add(match, owner: owner, onEnd: onEnd, handler),
            rule: rule
        )
    }

    /// Asks for one signal of an object, with its arguments in their types.
    ///
    /// A signal with other arguments than were declared is passed over: its sender is at fault.
    ///
    /// - Parameters:
    ///   - signal: Which signal.
    ///   - path: The object.
    ///   - sender: The connection that has the object, by its unique or a well-known name.
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
