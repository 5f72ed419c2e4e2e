// SPDX-License-Identifier: Apache-2.0

internal import EventLoop

/// The match rules that a connection has at the bus: each is there once, however many
/// subscriptions share it, and until the last of them ends.
@LoopActor final class MatchRules {
    /// Takes `nil` when the bus has the rule, or why it has refused it.
    typealias Listener = @LoopActor (DBusError?) -> Void

    private final class Entry {
        var users = 1
        /// Whether this bus has been asked.
        var isSent = false
        /// Whether the bus has answered, and how.
        var answer: Result<Void, DBusError>?
        var listeners: [Listener] = []
    }

    private var entries: [String: Entry] = [:]

    nonisolated init() {}

    /// Adds a rule, at the bus only if it is not there yet.
    func add(_ rule: String, on connection: Connection) throws(DBusError) {
        if let entry = entries[rule] {
            // There may be room by now for one that was refused.
            if case .failure = entry.answer, connection.isOpen {
                try send(entry, rule, on: connection)
            }
            entry.users += 1
        } else {
            let entry = Entry()
            if connection.isOpen { try send(entry, rule, on: connection) }
            entries[rule] = entry
        }
    }

    /// Removes a rule, at the bus only if nobody else needs it.
    func remove(_ rule: String, on connection: Connection) {
        guard let entry = entries[rule] else { return }
        entry.users -= 1
        guard entry.users == 0 else { return }
        entries[rule] = nil
        // Who waits for its answer is told last: what they do may well end other rules.
        defer { tell(.closed, to: entry) }
        if case .failure = entry.answer { return }
        try? connection.sendRegardless(
            "RemoveMatch",
            on: BusDriver.interface,
            at: BusDriver.path,
            of: BusDriver.name,
            rule
        )
    }

    /// Tells when the bus has answered for a rule, perhaps at once.
    func whenAnswered(_ rule: String, _ listener: @escaping Listener) {
        guard let entry = entries[rule] else { return listener(.closed) }
        switch entry.answer {
        case nil: entry.listeners.append(listener)
        case .success: listener(nil)
        case .failure(let error): listener(error)
        }
    }

    /// The bus has gone, and all rules with it.
    func lost() {
        for entry in entries.values {
            entry.isSent = false
            entry.answer = nil
        }
    }

    /// Adds all rules anew that a new bus does not know yet.
    func restore(on connection: Connection) throws(DBusError) {
        for (rule, entry) in entries where !entry.isSent {
            try send(entry, rule, on: connection)
        }
    }

    func removeAll() {
        let all = exchange(&entries, with: [:])
        for entry in all.values { settle(entry, .failure(.closed)) }
    }

    private func send(_ entry: Entry, _ rule: String, on connection: Connection) throws(DBusError) {
        try connection.startDriverCall(
            "AddMatch",
            rule,
            then: { [weak self, weak entry] outcome in
                guard let self, let entry else { return }
                switch outcome {
                case .success: settle(entry, .success(()))
                case .failure(let error):
                    // A connection that is lost will add the rule anew, or has told its end.
                    guard connection.isOpen else { return }
                    settle(entry, .failure(error as? DBusError ?? .closed))
                }
            }
        )
        entry.isSent = true
        entry.answer = nil
    }

    private func settle(_ entry: Entry, _ answer: Result<Void, DBusError>) {
        entry.answer = answer
        let error: DBusError? = if case .failure(let error) = answer { error } else { nil }
        tell(error, to: entry)
    }

    private func tell(_ error: DBusError?, to entry: Entry) {
        for listener in exchange(&entry.listeners, with: []) { listener(error) }
    }
}
