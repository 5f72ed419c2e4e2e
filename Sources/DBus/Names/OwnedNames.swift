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
    struct Entry {
        let flags: NameFlags
        /// Told when the name comes or goes after the request was answered.
        let onChange: (@LoopActor (Bool) -> Void)?
        var isOwned: Bool
        /// Whether the bus has answered the request: what comes before belongs to the answer.
        var isAnswered = false
    }

    private var entries: [BusName: Entry] = [:]

    nonisolated init() {}

    /// Notes a request before it is sent, so that what comes of it later finds it.
    func note(_ name: BusName, _ flags: NameFlags, _ onChange: (@LoopActor (Bool) -> Void)?) {
        let isOwned = entries[name]?.isOwned ?? false
        entries[name] = Entry(flags: flags, onChange: onChange, isOwned: isOwned)
    }

    func answered(_ name: BusName, _ result: NameRequest) {
        entries[name]?.isAnswered = true
        switch result {
        case .owner, .alreadyOwner: entries[name]?.isOwned = true
        case .queued: entries[name]?.isOwned = false
        case .exists: entries[name] = nil
        }
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
        entries[name]?.isOwned = isOwned
        guard entry.isAnswered else { return }
        // Who does not want to queue has the name no more, and is not to take it back from its
        // new owner when the bus is restarted.
        if !isOwned, entry.flags.contains(.doNotQueue) { entries[name] = nil }
        entry.onChange?(isOwned)
    }

    /// The bus has gone, and all names with it.
    func lost() {
        for (name, entry) in entries {
            entries[name]?.isOwned = false
            entries[name]?.isAnswered = false
            if entry.isOwned, entry.isAnswered { entry.onChange?(false) }
        }
    }

    /// Requests all names anew, of a bus that knows none of them.
    func restore(on connection: Connection) async throws {
        for (name, entry) in entries {
            do {
                let result = try await connection.sendRequest(for: name, entry.flags)
                answered(name, result)
                if entries[name]?.isOwned == true { entry.onChange?(true) }
            } catch let error as DBusError where connection.isOpen && error.name != .noReply {
                // The bus has another policy than before; what else there was is back.
                forget(name)
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
        names.note(name, flags, onChange)
        do {
            let result = try await sendRequest(for: name, flags)
            names.answered(name, result)
            return result
        } catch {
            names.forget(name)
            throw error
        }
    }

    /// Gives a name back, or its place in the queue for it.
    public func releaseName(_ name: BusName) async throws {
        names.forget(name)
        _ = try await driver("ReleaseName", name.string)
    }

    func sendRequest(for name: BusName, _ flags: NameFlags) async throws -> NameRequest {
        let reply = try await driver("RequestName", name.string, flags.rawValue)
        guard let result = NameRequest(rawValue: try reply.results(UInt32.self)) else {
            throw DBusError(.failed, "the bus gave an unknown answer to RequestName")
        }
        return result
    }
}
