// SPDX-License-Identifier: Apache-2.0

public import EventLoop

/// Who is behind a connection, as the bus found out from the kernel when it connected.
public struct Credentials: Hashable, Sendable {
    /// The user id.
    public var userID: UInt32
    /// The process id, where the kernel told.
    public var processID: UInt32?
    /// The label of the security module, such as a profile of AppArmor.
    public var securityLabel: String?
}

/// The answer of `GetConnectionCredentials`, an `a{sv}` of which only what is known is read: newer
/// buses add entries, one of them with a descriptor of the process.
struct CredentialEntries: DBusDecodable {
    let credentials: Credentials

    static var signature: Signature { [String: Value].signature }

    init(from reader: inout MessageReader) throws(DBusError) {
        var (userID, processID, label): (UInt32?, UInt32?, [UInt8]?) = (nil, nil, nil)
        try reader.readArray { reader throws(DBusError) in
            try reader.readEntry { entry throws(DBusError) in
                let key: String = try entry.next()
                try entry.readVariant { content, type throws(DBusError) in
                    switch (key, type.string) {
                    case ("UnixUserID", "u"): userID = try content.next()
                    case ("ProcessID", "u"): processID = try content.next()
                    case ("LinuxSecurityLabel", "ay"): label = try content.next()
                    default: break
                    }
                }
            }
        }
        guard let userID else {
            throw DBusError(.failed, "the bus does not know the caller's user")
        }
        credentials = Credentials(
            userID: userID,
            processID: processID,
            securityLabel: label.map { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        )
    }
}

extension Connection {
    /// Asks the bus who is behind a connection.
    ///
    /// - Parameter peer: The connection's unique name.
    /// - Returns: Its credentials at the time when it connected.
    /// - Throws: `NameHasNoOwner` if it has gone.
    public func credentials(of peer: BusName) async throws -> Credentials {
        let reply = try await driver("GetConnectionCredentials", peer.string)
        return try reply.results(CredentialEntries.self).credentials
    }

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
            guard let self, let answer = try? await [self.owner(of: peer)] else { return }
            if answer == [nil] { watch?.vanished() }
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
        subscription.onAnswer { [weak self] error in self?.isWatching = error == nil }
        return subscription
    }

    /// The bus has gone, and with it all that were connected.
    func lost() {
        isWatching = false
        for peer in Array(watches.keys) { ended(peer) }
    }

    private func ended(_ peer: BusName) {
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
