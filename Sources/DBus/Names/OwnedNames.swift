// SPDX-License-Identifier: Apache-2.0

internal import EventLoop

/// What became of a request for a name.
public enum NameRequest: UInt32, Hashable, Sendable {
    /// The connection owns the name now.
    case owner = 1
    /// Another connection owns it; this one follows when it lets go.
    case queued = 2
    /// Another connection owns it.
    case exists = 3
    /// The connection owned it before.
    case alreadyOwner = 4
}

/// How a name is requested (`RequestName` of the specification).
public struct NameFlags: OptionSet, Hashable, Sendable {
    /// The specification's bits.
    public let rawValue: UInt32

    /// Makes a set from the specification's bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Another connection may take the name over.
    public static let allowReplacement = NameFlags(rawValue: 1)
    /// Take the name over from an owner that allows it.
    public static let replaceExisting = NameFlags(rawValue: 2)
    /// Do not wait in the queue for the name.
    public static let doNotQueue = NameFlags(rawValue: 4)
}

/// The well-known names that a connection owns or waits for.
@LoopActor final class OwnedNames {
    /// One request for a name.
    @LoopActor final class Entry {
        let flags: NameFlags
        /// Told when the name comes or goes after the request was answered.
        let onChange: (@LoopActor (Bool) -> Void)?
        fileprivate var isOwned: Bool
        /// Whether this bus has been asked.
        fileprivate var isSent = false
        /// Whether the bus has answered the request: what comes before belongs to the answer.
        fileprivate var isAnswered = false

        fileprivate init(
            _ flags: NameFlags,
            isOwned: Bool,
            _ onChange: (@LoopActor (Bool) -> Void)?
        ) {
            self.flags = flags
            self.isOwned = isOwned
            self.onChange = onChange
        }
    }

    private var entries: [BusName: Entry] = [:]

    nonisolated init() {}

    /// Notes a request before it is sent, so that what comes of it later finds it.
    ///
    /// - Returns: What takes the answer as it arrives, since the name may come or go right behind.
    fileprivate func note(
        _ name: BusName,
        _ flags: NameFlags,
        on connection: Connection,
        _ onChange: (@LoopActor (Bool) -> Void)?
    ) -> @LoopActor (Result<NameRequest, any Error>) -> Void {
        let earlier = entries[name]
        let entry = Entry(flags, isOwned: earlier?.isOwned ?? false, onChange)
        entry.isSent = connection.isOpen
        entries[name] = entry
        return { [weak self, weak connection] outcome in
            switch outcome {
            case .success(let result): self?.answered(name, result)
            case .failure(let error):
                guard let self else { return }
                failed(entry, for: name, earlier)
                // The bus may have granted it all the same.
                guard entries[name] == nil, let connection, connection.isOpen,
                    error is CancellationError || (error as? DBusError)?.name == .noReply
                else { return }
                try? connection.callWithoutReply(
                    "ReleaseName",
                    on: BusDriver.interface,
                    at: BusDriver.path,
                    of: BusDriver.name,
                    name.string
                )
            }
        }
    }

    private func answered(_ name: BusName, _ result: NameRequest) {
        entries[name]?.isAnswered = true
        switch result {
        case .owner, .alreadyOwner: entries[name]?.isOwned = true
        case .queued: entries[name]?.isOwned = false
        case .exists: entries[name] = nil
        }
    }

    /// A request that has failed leaves what an earlier one has brought.
    private func failed(_ entry: Entry, for name: BusName, _ earlier: Entry?) {
        guard entries[name] === entry else { return }
        entries[name] = earlier
        guard let earlier, earlier.isOwned != entry.isOwned else { return }
        earlier.isOwned = entry.isOwned
        if earlier.isAnswered { earlier.onChange?(earlier.isOwned) }
    }

    func forget(_ name: BusName) {
        entries[name] = nil
    }

    /// Handles `NameAcquired` and `NameLost`, which the bus sends to the connection alone.
    func route(_ message: borrowing Message) {
        guard message.sender == BusDriver.name, message.interface == BusDriver.interface,
            let member = message.member, let text = message.text(at: 0)
        else { return }
        let name = BusName(unchecked: text)
        switch member.string {
        case "NameAcquired": change(name, isOwned: true)
        case "NameLost": change(name, isOwned: false)
        default: break
        }
    }

    private func change(_ name: BusName, isOwned: Bool) {
        guard let entry = entries[name], entry.isOwned != isOwned else { return }
        entry.isOwned = isOwned
        guard entry.isAnswered else { return }
        // Who does not want to queue has the name no more, and is not to take it back from its
        // new owner when the bus is restarted.
        if !isOwned, entry.flags.contains(.doNotQueue) { entries[name] = nil }
        entry.onChange?(isOwned)
    }

    /// The bus has gone, and all names with it.
    func lost() {
        for entry in Array(entries.values) {
            let wasOwned = entry.isOwned && entry.isAnswered
            entry.isOwned = false
            entry.isSent = false
            entry.isAnswered = false
            if wasOwned { entry.onChange?(false) }
        }
    }

    /// Requests all names anew, of a bus that knows none of them.
    func restore(on connection: Connection) async throws {
        // Each may be given back, or requested by somebody else, while others are waited for.
        for (name, entry) in entries where entries[name] === entry && !entry.isSent {
            entry.isSent = true
            do {
                try await connection.sendRequest(for: name, entry.flags) { [weak self] outcome in
                    guard let self, entries[name] === entry, case .success(let result) = outcome
                    else { return }
                    answered(name, result)
                    if entry.isOwned { entry.onChange?(true) }
                }
            } catch let error as DBusError where connection.isOpen && error.name != .noReply {
                // The bus has another policy than before; what else there was is back.
                if entries[name] === entry { entries[name] = nil }
            }
        }
    }

    func removeAll() {
        _ = exchange(&entries, with: [:])
    }
}

extension Connection {
    /// Asks the bus for a well-known name.
    ///
    /// Export objects first: callers come at once.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - flags: What to do if it has an owner.
    ///   - onChange: Called when the name is lost to another owner (`false`) and when it comes
    ///     after waiting for it (`true`).
    /// - Returns: What became of it.
    /// - Throws: What the bus refuses with, such as `AccessDenied` by its policy.
    @discardableResult
    public func requestName(
        _ name: BusName,
        flags: NameFlags = .doNotQueue,
        onChange: (@LoopActor (_ isOwner: Bool) -> Void)? = nil
    ) async throws -> NameRequest {
        let note = names.note(name, flags, on: self, onChange)
        return try await sendRequest(for: name, flags, note)
    }

    /// Gives a name back, or its place in the queue for it.
    public func releaseName(_ name: BusName) async throws {
        names.forget(name)
        _ = try await driver("ReleaseName", name.string)
    }

    /// Requests a name; a closure takes the outcome in the order of other arrivals.
    @discardableResult
    fileprivate func sendRequest(
        for name: BusName,
        _ flags: NameFlags,
        _ handler: @escaping @LoopActor (Result<NameRequest, any Error>) -> Void
    ) async throws -> NameRequest {
        let call: PendingCall
        do {
            try Task.checkCancellation()
            var message = try Message.call(
                "RequestName",
                on: BusDriver.interface,
                at: BusDriver.path,
                of: BusDriver.name
            )
            try message.append(name.string, flags.rawValue)
            call = try start(message) { outcome in
                handler(outcome.flatMap { reply in Result { try Self.request(in: reply) } })
            }
        } catch {
            handler(.failure(error))
            throw error
        }
        return try Self.request(in: try await call.reply)
    }

    private static func request(in reply: Reply) throws -> NameRequest {
        guard let result = NameRequest(rawValue: try reply.results(UInt32.self)) else {
            throw DBusError(.failed, "the bus gave an unknown answer to RequestName")
        }
        return result
    }
}
