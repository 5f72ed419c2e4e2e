// SPDX-License-Identifier: Apache-2.0

internal import EventLoop

/// The interfaces that every object has: `Introspectable` and `Properties`.
///
/// `Peer` is answered by libdbus itself.
enum StandardInterfaces {
    static let properties: InterfaceName = "org.freedesktop.DBus.Properties"
    static let introspectable: InterfaceName = "org.freedesktop.DBus.Introspectable"

    static let propertiesChanged = Signal<InterfaceName, [String: Value], [String]>(
        "PropertiesChanged",
        of: properties,
        arguments: ["interface_name", "changed_properties", "invalidated_properties"]
    )

    /// The standard interfaces of an object that has others.
    static func all(beside interfaces: [Interface]) -> [Interface] {
        [properties(of: interfaces), introspection(of: interfaces)]
    }

    /// What a node has that is only on the way to an object: tools find their way by it.
    static let ofNode = [introspection(of: [])]

    private static func introspection(of interfaces: [Interface]) -> Interface {
        Interface(
            introspectable,
            [
                .method("Introspect", out: ["xml_data"]) { call -> String in
                    IntrospectionXML.document(
                        interfaces: interfaces.filter { $0.isVisible(to: call) },
                        children: call.connection?.objects
                            .children(of: call.path, for: call.sender) ?? []
                    )
                }
            ]
        )
    }

    private static func properties(of all: [Interface]) -> Interface {
        Interface(
            properties,
            [
                .method("Get", in: ["interface_name", "property_name"], out: ["value"]) {
                    (call, interface: String, name: String) -> PropertyContent in
                    try find(name, of: interface, in: all, for: call).get(call)
                },
                .method("GetAll", in: ["interface_name"], out: ["properties"]) {
                    (call, name: String) -> [String: PropertyContent] in
                    var contents: [String: PropertyContent] = [:]
                    for index in try find(name, in: all, for: call) {
                        contents.merge(try all[index].contents(for: call)) { $1 }
                    }
                    return contents
                },
                Interface.Member(kind: .method(set(in: all))),
                .signal(propertiesChanged),
            ]
        )
    }

    /// The place of the interface by name; for an empty name, of all that have properties, as the
    /// specification allows.
    @LoopActor private static func find(
        _ name: String,
        in interfaces: [Interface],
        for call: Call
    ) throws(DBusError) -> [Int] {
        var found: [Int] = []
        for index in interfaces.indices where interfaces[index].isVisible(to: call) {
            if name.isEmpty || interfaces[index].name.string == name { found.append(index) }
        }
        guard !found.isEmpty else {
            throw DBusError(.unknownInterface, "the object has no interface “\(name)”")
        }
        return found
    }

    /// `Set` reads the new value as the property's own type instead of a dynamic one.
    private static func set(in interfaces: [Interface]) -> Method {
        Method(
            name: "Set",
            inputs: Argument.list(
                ["interface_name", "property_name", "value"],
                of: "Set",
                String.self,
                String.self,
                Value.self
            ),
            outputs: []
        ) { call, message, answer in
            // Kept, since the handler may have to wait for its turn.
            let call = ReceivedSet(call: call, message: Message(retaining: message.pointer))
            answer.order.run { call.run(in: interfaces, answer) }
        }
    }

    @LoopActor fileprivate static func find(
        _ name: String,
        of interface: String,
        in interfaces: [Interface],
        for call: Call
    ) throws(DBusError) -> Property {
        for index in try find(interface, in: interfaces, for: call) {
            if let property = interfaces[index].property(name) { return property }
        }
        throw DBusError(
            .unknownProperty,
            "the interface “\(interface)” has no property “\(name)”"
        )
    }
}

/// A call of `Set` that has arrived.
@LoopActor private final class ReceivedSet {
    private let call: Call
    private let message: Message

    init(call: Call, message: consuming Message) {
        self.call = call
        self.message = message
    }

    func run(in interfaces: [Interface], _ answer: Answer) {
        do {
            try set(in: interfaces)
            answer.succeed()
        } catch {
            answer.fail(error)
        }
    }

    private func set(in interfaces: [Interface]) throws {
        // A value of another type than the property's is not read at all: it may be huge.
        var (interface, name, type) = ("", "", Signature(unchecked: ""))
        try message.expect("ssv")
        try message.readArgument(0) { reader in
            interface = try reader.next()
            name = try reader.next()
            try reader.readVariant { _, content throws(DBusError) in type = content }
        }
        let property = try StandardInterfaces.find(name, of: interface, in: interfaces, for: call)
        guard let set = property.set else {
            throw DBusError(.propertyReadOnly, "the property “\(name)” is read-only")
        }
        guard type == property.signature else {
            throw DBusError(
                .invalidArguments,
                "the property “\(name)” is of type “\(property.signature)”,"
                    + " not “\(type)”"
            )
        }
        try message.readArgument(2) { reader in try set(call, &reader) }
    }
}
