// SPDX-License-Identifier: Apache-2.0

public import EventLoop

extension Connection {
    /// Tells when a connection goes away, or has gone already.
    ///
    /// - Parameters:
    ///   - peer: The connection's unique name, which is never used again.
    ///   - handler: Called once.
    /// - Returns: What to hold for as long as it matters.
    /// - Throws: `Disconnected` on a closed connection.
    public func watchPeer(
        _ peer: BusName,
        onVanish handler: @escaping @LoopActor () -> Void
    ) throws(DBusError) -> PeerWatch {
        try watchPeer(peer, isKnownAlive: false, onVanish: handler)
    }

    /// Tells when a connection goes away; without asking whether it has gone already, if it is
    /// known to have been there when the bus began to tell.
    func watchPeer(
        _ peer: BusName,
        isKnownAlive: Bool,
        onVanish handler: @escaping @LoopActor () -> Void
    ) throws(DBusError) -> PeerWatch {
        let watch = try peers.add(peer, handler, on: self)
        guard !isKnownAlive else { return watch }
        // It may have gone before the bus knew of the wish to be told. The bus answers in order,
        // so an owner now means that its end will be told.
        LoopActor.task { [weak self, weak watch] in
            guard let self, !isEnded else { return }
            // Of a bus that has gone nobody is left.
            guard isOpen else { return watch?.vanished() ?? () }
            if let answer = try? await [self.owner(of: peer)], answer == [nil] {
                watch?.vanished()
            }
        }
        return watch
    }
}

/// Who is to be told of the ends of which connections.
///
/// One match rule serves all: a bus allows a connection only so many, and some have more clients.
/// It is given back when an end is told that nobody wants to know of, so that others' goings wake
/// nobody for long, and not sooner: where one is watched, the next will be soon.
@LoopActor final class PeerWatches {
    private var watches: [BusName: [ObjectIdentifier: Weak]] = [:]
    private var subscription: Subscription?
    /// Whether the bus has answered that it tells of all ends from now on.
    private(set) var isWatching = false
    /// How many ends have been told.
    private(set) var toldEnds = 0

    private struct Weak {
        weak var watch: PeerWatch?
    }

    nonisolated init() {}

    fileprivate func add(
        _ peer: BusName,
        _ handler: @escaping @LoopActor () -> Void,
        on connection: Connection
    ) throws(DBusError) -> PeerWatch {
        if subscription == nil { subscription = try subscribe(on: connection) }
        let watch = PeerWatch(peer, handler, in: self)
        watches[peer, default: [:]][ObjectIdentifier(watch)] = Weak(watch: watch)
        return watch
    }

    fileprivate func remove(_ peer: BusName, _ watch: ObjectIdentifier) {
        guard watches[peer]?.removeValue(forKey: watch) != nil else { return }
        if watches[peer]?.isEmpty == true { watches[peer] = nil }
    }

    private func subscribe(on connection: Connection) throws(DBusError) -> Subscription {
        let match = SignalMatch(
            sender: BusDriver.name,
            interface: BusDriver.interface,
            member: BusDriver.nameOwnerChanged.name,
            arguments: [2: ""]
        )
        let subscription = try connection.subscribe(to: match) { [weak self] message in
            if let name = message.text(at: 0) { self?.ended(BusName(unchecked: name)) }
        }
        subscription.onAnswer { [weak self] error in
            self?.isWatching = error == nil
            // Whoever is watched next asks again: there may be room by then.
            if error != nil { self?.subscription = nil }
        }
        return subscription
    }

    /// The bus has gone, and with it all that were connected.
    func lost() {
        isWatching = false
        toldEnds += 1
        for peer in Array(watches.keys) { ended(peer) }
    }

    private func ended(_ peer: BusName) {
        toldEnds += 1
        guard !watches.isEmpty else {
            isWatching = false
            subscription.take()?.cancel()
            return
        }
        for weak in watches[peer].map({ Array($0.values) }) ?? [] { weak.watch?.vanished() }
    }
}

/// A standing wish to be told of a connection's end.
@LoopActor public final class PeerWatch {
    private let peer: BusName
    private weak var registry: PeerWatches?
    private var handler: (@LoopActor () -> Void)?

    fileprivate init(
        _ peer: BusName,
        _ handler: @escaping @LoopActor () -> Void,
        in registry: PeerWatches
    ) {
        self.peer = peer
        self.handler = handler
        self.registry = registry
    }

    isolated deinit {
        registry?.remove(peer, ObjectIdentifier(self))
    }

    /// Ends it: the handler is not called any more.
    public func cancel() {
        registry?.remove(peer, ObjectIdentifier(self))
        // Let go of last: what it holds may end, and cancel this again.
        _ = handler.take()
    }

    fileprivate func vanished() {
        let handler = handler
        cancel()
        handler?()
    }
}
