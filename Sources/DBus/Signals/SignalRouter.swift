// SPDX-License-Identifier: Apache-2.0

internal import EventLoop

/// Brings signals to the handlers that want them.
@LoopActor final class SignalRouter {
    /// A handler and what it wants.
    @LoopActor final class Route {
        let match: SignalMatch
        /// The place among all routes: who subscribed first is told first.
        fileprivate let order: UInt64
        /// Tells who owns the sender's well-known name; `nil` for a sender that never changes.
        let owner: NameWatch?
        fileprivate var handler: (@LoopActor (borrowing Message) -> Void)?
        fileprivate var onEnd: (@LoopActor () -> Void)?

        fileprivate init(
            _ match: SignalMatch,
            order: UInt64,
            owner: NameWatch?,
            onEnd: (@LoopActor () -> Void)?,
            _ handler: @escaping @LoopActor (borrowing Message) -> Void
        ) {
            self.match = match
            self.order = order
            self.owner = owner
            self.onEnd = onEnd
            self.handler = handler
        }

        fileprivate func isSender(_ sender: BusName?) -> Bool {
            guard let wanted = match.sender else { return true }
            return sender == (owner.map(\.owner) ?? wanted)
        }
    }

    /// The routes by the names of their signals; most have one.
    private var routes: [MemberName?: [Route]] = [:]
    private var lastOrder: UInt64 = 0

    nonisolated init() {}

    /// Adds a route.
    ///
    /// - Parameters:
    ///   - match: What it wants.
    ///   - owner: Tells who owns the well-known name in the match.
    ///   - onEnd: Called when all routes end.
    ///   - handler: Borrows each such signal.
    /// - Returns: The route, for its removal.
    func add(
        _ match: SignalMatch,
        owner: NameWatch?,
        onEnd: (@LoopActor () -> Void)?,
        _ handler: @escaping @LoopActor (borrowing Message) -> Void
    ) -> Route {
        lastOrder += 1
        let route = Route(match, order: lastOrder, owner: owner, onEnd: onEnd, handler)
        routes[match.member, default: []].append(route)
        return route
    }

    /// Removes a route; its handler is not called again.
    func remove(_ route: Route) {
        let member = route.match.member
        routes[member]?.removeAll { $0 === route }
        if routes[member]?.isEmpty == true { routes[member] = nil }
        // Let go of last: the end of what it holds may well cancel other subscriptions.
        _ = route.handler.take()
        _ = route.onEnd.take()
    }

    func removeAll() {
        let all = exchange(&routes, with: [:])
        for route in all.values.joined() { _ = route.handler.take() }
        for route in all.values.joined() { route.onEnd.take()?() }
    }

    func route(_ message: borrowing Message) {
        guard let member = message.member else { return }
        var candidates = routes[member] ?? []
        if let others = routes[nil] {
            candidates = (candidates + others).sorted { $0.order < $1.order }
        }
        guard !candidates.isEmpty else { return }
        let sender = message.sender
        // A handler may subscribe and unsubscribe; what it removes must not be called any more.
        for route in candidates where route.isSender(sender) {
            if let handler = route.handler, route.match.accepts(message) { handler(message) }
        }
    }
}
