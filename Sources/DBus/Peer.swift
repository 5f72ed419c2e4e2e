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

    init(_ entries: [String: Value]) throws(DBusError) {
        guard case .uint32(let userID) = entries["UnixUserID"] else {
            throw DBusError(.failed, "the bus does not know the caller's user")
        }
        self.userID = userID
        if case .uint32(let processID) = entries["ProcessID"] { self.processID = processID }
        if case .array(_, let bytes) = entries["LinuxSecurityLabel"] {
            let text = bytes.compactMap { if case .byte(let byte) = $0 { byte } else { nil } }
            securityLabel = String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
        }
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
        return try Credentials(try reply.results([String: Value].self))
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
        let watch = PeerWatch(handler)
        watch.subscription = try subscribe(
            to: SignalMatch(
                sender: BusDriver.name,
                interface: BusDriver.interface,
                member: BusDriver.nameOwnerChanged.name,
                argument0: peer.string
            )
        ) { [weak watch] message in
            let owners = try? message.arguments(String.self, String.self, String.self)
            if owners?.2.isEmpty == true { watch?.vanished() }
        }
        // It may have gone before the bus knew of the wish to be told. The bus answers in order,
        // so an owner now means that its end will be told.
        LoopActor.task { [weak self, weak watch] in
            guard let self, let answer = try? await [self.owner(of: peer)] else { return }
            if answer == [nil] { watch?.vanished() }
        }
        return watch
    }
}

/// A standing wish to be told of a connection's end.
@LoopActor public final class PeerWatch {
    fileprivate var subscription: Subscription?
    private var handler: (@LoopActor () -> Void)?

    fileprivate init(_ handler: @escaping @LoopActor () -> Void) {
        self.handler = handler
    }

    /// Ends it: the handler is not called any more.
    public func cancel() {
        subscription.take()?.cancel()
        // Let go of last: what it holds may end, and cancel this again.
        _ = handler.take()
    }

    fileprivate func vanished() {
        let handler = handler
        cancel()
        handler?()
    }
}
