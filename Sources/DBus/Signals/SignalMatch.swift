// SPDX-License-Identifier: Apache-2.0

/// Which signals a subscription wants (match rules of the specification); what is `nil` or empty
/// does not matter.
public struct SignalMatch: Hashable, Sendable {
    /// The connection that sends it; of a well-known name it is the owner at the time.
    public var sender: BusName?
    /// The object that it comes from.
    public var path: ObjectPath?
    /// The object that it comes from, or one above that.
    public var pathNamespace: ObjectPath?
    /// Its interface.
    public var interface: InterfaceName?
    /// Its name.
    public var member: MemberName?
    /// Arguments by their places, 0 to 63: texts.
    public var arguments: [Int: String]
    /// The first argument: a bus name or the beginning of one, up to a dot.
    public var argument0Namespace: String?

    /// Makes a match.
    public init(
        sender: BusName? = nil,
        path: ObjectPath? = nil,
        pathNamespace: ObjectPath? = nil,
        interface: InterfaceName? = nil,
        member: MemberName? = nil,
        arguments: [Int: String] = [:],
        argument0Namespace: String? = nil
    ) {
        self.sender = sender
        self.path = path
        self.pathNamespace = pathNamespace
        self.interface = interface
        self.member = member
        self.arguments = arguments
        self.argument0Namespace = argument0Namespace
    }

    /// The match rule for the bus, the same for equal matches.
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
        add("path_namespace", pathNamespace?.string)
        add("interface", interface?.string)
        add("member", member?.string)
        for (index, text) in arguments.sorted(by: { $0.key < $1.key }) {
            precondition((0...63).contains(index), "the bus matches no argument \(index)")
            add("arg\(index)", text)
        }
        add("arg0namespace", argument0Namespace)
        return rule
    }

    /// Whether a signal is wanted, apart from its sender and its name.
    func accepts(_ message: borrowing Message) -> Bool {
        if let interface, message.interface != interface { return false }
        if let path, message.path != path { return false }
        if let pathNamespace {
            guard let path = message.path, path.isInside(pathNamespace) else { return false }
        }
        for (index, text) in arguments where message.text(at: index) != text { return false }
        if let argument0Namespace {
            guard let text = message.text(at: 0),
                text == argument0Namespace || text.hasPrefix(argument0Namespace + ".")
            else { return false }
        }
        return true
    }
}

extension ObjectPath {
    /// Whether this is another path, or below it.
    func isInside(_ other: ObjectPath) -> Bool {
        self == other || other.nextStep(towards: self) != nil
    }
}

extension Message {
    /// An argument if it is a text.
    package func text(at index: Int) -> String? {
        var text: String?
        readArgument(index) { reader in
            if reader.nextType == TypeCode.string { text = try? reader.next(String.self) }
        }
        return text
    }
}
