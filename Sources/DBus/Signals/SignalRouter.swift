// SPDX-License-Identifier: Apache-2.0

internal import EventLoop

/// Which signals a subscription wants; what is `nil` does not matter.
public struct SignalMatch: Hashable, Sendable {
    /// The connection that sends it; a well-known name is matched by the bus alone.
    public var sender: BusName?
    /// The object that it comes from.
    public var path: ObjectPath?
    /// Its interface.
    public var interface: InterfaceName?
    /// Its name.
    public var member: MemberName?
    /// Its first argument, a text.
    public var argument0: String?
    /// Its third argument, a text.
    public var argument2: String?

    /// Makes a match.
    public init(
        sender: BusName? = nil,
        path: ObjectPath? = nil,
        interface: InterfaceName? = nil,
        member: MemberName? = nil,
        argument0: String? = nil,
        argument2: String? = nil
    ) {
        self.sender = sender
        self.path = path
        self.interface = interface
        self.member = member
        self.argument0 = argument0
        self.argument2 = argument2
    }

    /// The match rule for the bus, as the specification writes it.
    var rule: String {
        var rule = "type='signal'"
        func add(_ key: String, _ value: String?) {
            guard let value else { return }
            // Inside quotes only the apostrophe is special: it ends them.
            let quoted = value.split(separator: "'", omittingEmptySubsequences: false)
                .joined(separator: "'\\''")
            rule += ",\(key)='\(quoted)'"
        }
        add("sender", sender?.string)
        add("path", path?.string)
        add("interface", interface?.string)
        add("member", member?.string)
        add("arg0", argument0)
        add("arg2", argument2)
        return rule
    }

    fileprivate func accepts(_ message: borrowing Message) -> Bool {
        if let member, message.member != member { return false }
        if let interface, message.interface != interface { return false }
        if let path, message.path != path { return false }
        if let sender, sender.isUnique || sender == BusDriver.name, message.sender != sender {
            return false
        }
        if let argument0, message.text(at: 0) != argument0 { return false }
        if let argument2, message.text(at: 2) != argument2 { return false }
        return true
    }
}

/// The handlers that wait for signals.
@LoopActor final class SignalRouter {
    typealias Handler = @LoopActor (borrowing Message) -> Void

    private struct Route {
        let match: SignalMatch
        let handler: Handler
    }

    private var routes: [UInt64: Route] = [:]
    private var lastKey: UInt64 = 0

    nonisolated init() {}

    func add(_ match: SignalMatch, _ handler: @escaping Handler) -> UInt64 {
        lastKey += 1
        routes[lastKey] = Route(match: match, handler: handler)
        return lastKey
    }

    /// - Returns: Whether it was there.
    func remove(_ key: UInt64) -> Bool {
        routes.removeValue(forKey: key) != nil
    }

    func removeAll() {
        // Taken out first and let go of afterwards: the end of what a handler holds may well
        // cancel other subscriptions, which must not happen while the table is being changed.
        _ = exchange(&routes, with: [:])
    }

    func route(_ message: borrowing Message) {
        // A handler may subscribe and unsubscribe; what it removes must not be called any more.
        for key in routes.keys.sorted() {
            if let route = routes[key], route.match.accepts(message) { route.handler(message) }
        }
    }
}

extension Message {
    /// An argument if it is a text.
    func text(at index: Int) -> String? {
        var text: String?
        readArgument(index) { reader in
            if reader.nextType == TypeCode.string { text = try? reader.next(String.self) }
        }
        return text
    }
}
