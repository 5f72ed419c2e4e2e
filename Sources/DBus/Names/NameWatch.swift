// SPDX-License-Identifier: Apache-2.0

public import EventLoop

/// A standing wish to know who owns a name, until it is cancelled or let go of.
@LoopActor public final class NameWatch {
    /// The name.
    public let name: BusName

    /// The unique name of the connection that owns it; `nil` if none does, or while the bus has
    /// not answered yet.
    public internal(set) var owner: BusName?

    /// Whether it has been told of an owner, or that there is none.
    fileprivate var isTold = false
    private weak var owners: NameOwners?
    private var handler: (@LoopActor (BusName?) -> Void)?

    init(
        _ name: BusName,
        in owners: NameOwners,
        _ handler: (@LoopActor (BusName?) -> Void)?
    ) {
        self.name = name
        self.owners = owners
        self.handler = handler
    }

    isolated deinit {
        owners?.remove(self)
    }

    /// Ends it: the handler is not called any more, and the owner stays what it was.
    public func cancel() {
        owners?.remove(self)
        // Let go of last: what it holds may end, and cancel this again.
        _ = handler.take()
    }

    fileprivate func tell(_ owner: BusName?) {
        self.owner = owner
        isTold = true
        handler?(owner)
    }
}

/// Who owns the names that somebody wants to know of.
@LoopActor final class NameOwners {
    /// A name, its owner as far as it is known, and who wants to know.
    private final class Entry {
        /// `nil` until the bus has answered.
        var owner: BusName??
        var watches: [ObjectIdentifier: Weak] = [:]
        var subscription: Subscription?
    }

    private struct Weak {
        weak var watch: NameWatch?
    }

    private var entries: [BusName: Entry] = [:]

    nonisolated init() {}

    func add(
        _ name: BusName,
        on connection: Connection,
        _ handler: (@LoopActor (BusName?) -> Void)?
    ) throws(DBusError) -> NameWatch {
        let watch = NameWatch(name, in: self, handler)
        if let entry = entries[name] {
            entry.watches[ObjectIdentifier(watch)] = Weak(watch: watch)
            guard let owner = entry.owner else { return watch }
            watch.owner = owner
            // Told later, never before the caller has the watch.
            EventLoop.shared.perform { [weak self, weak watch] in
                guard let watch, !watch.isTold, let owner = self?.entries[name]?.owner else {
                    return
                }
                watch.tell(owner)
            }
            return watch
        }
        let entry = Entry()
        entries[name] = entry
        entry.watches[ObjectIdentifier(watch)] = Weak(watch: watch)
        do {
            entry.subscription = try subscribe(to: name, on: connection)
            if connection.isOpen { try lookUp(name, entry, on: connection) }
        } catch {
            entries[name] = nil
            throw error
        }
        return watch
    }

    /// Tells when the bus has answered whether it tells a name's owners.
    func whenAnswered(_ name: BusName, _ listener: @escaping MatchRules.Listener) {
        guard let subscription = entries[name]?.subscription else { return listener(.closed) }
        subscription.onAnswer(listener)
    }

    fileprivate func remove(_ watch: NameWatch) {
        guard let entry = entries[watch.name] else { return }
        entry.watches[ObjectIdentifier(watch)] = nil
        guard entry.watches.isEmpty else { return }
        entries[watch.name] = nil
        entry.subscription.take()?.cancel()
    }

    /// The bus has gone, and with it all owners.
    func lost() {
        for entry in entries.values { tell(nil, entry) }
    }

    /// Asks a new bus for all owners.
    func restore(on connection: Connection) throws(DBusError) {
        for (name, entry) in entries {
            entry.owner = nil
            try lookUp(name, entry, on: connection)
        }
    }

    func removeAll() {
        _ = exchange(&entries, with: [:])
    }

    private func subscribe(
        to name: BusName,
        on connection: Connection
    ) throws(DBusError) -> Subscription {
        let match = SignalMatch(
            sender: BusDriver.name,
            path: BusDriver.path,
            interface: BusDriver.interface,
            member: BusDriver.nameOwnerChanged.name,
            arguments: [0: name.string]
        )
        return try connection.subscribe(to: match) { [weak self] message in
            guard let change = try? message.arguments(String.self, String.self, String.self),
                let entry = self?.entries[name]
            else { return }
            self?.tell(BusName(validating: change.2), entry)
        }
    }

    private func lookUp(
        _ name: BusName,
        _ entry: Entry,
        on connection: Connection
    ) throws(DBusError) {
        // The bus answers in the order of questions and events, so what arrives last is true.
        try connection.startDriverCall(
            "GetNameOwner",
            name.string,
            then: { [weak self, weak entry] in
                guard let self, let entry else { return }
                switch $0 {
                case .success(let reply):
                    // A bus that gives none has nobody who could be spoken to.
                    tell(try? Connection.name(in: reply), entry)
                case .failure(let error as DBusError) where error.name == .nameHasNoOwner:
                    tell(nil, entry)
                case .failure:
                    break
                }
            }
        )
    }

    private func tell(_ owner: BusName?, _ entry: Entry) {
        guard entry.owner != .some(owner) else { return }
        entry.owner = .some(owner)
        for weak in Array(entry.watches.values) { weak.watch?.tell(owner) }
    }
}

extension Connection {
    /// Tells who owns a name, and who will.
    ///
    /// - Parameters:
    ///   - name: A well-known or a unique name.
    ///   - handler: Called as soon as the bus has said who owns it, and at each change; with `nil`
    ///     if nobody does. Also when the connection to the bus is lost.
    /// - Returns: What to hold for as long as it matters.
    /// - Throws: `Disconnected` on a closed connection.
    public func watchName(
        _ name: BusName,
        _ handler: @escaping @LoopActor (BusName?) -> Void
    ) throws(DBusError) -> NameWatch {
        guard !isEnded else { throw .closed }
        return try owners.add(name, on: self, handler)
    }

    /// Like ``watchName(_:_:)`` for who only looks at the owner.
    func watch(_ name: BusName) throws(DBusError) -> NameWatch {
        try owners.add(name, on: self, nil)
    }
}
