// SPDX-License-Identifier: Apache-2.0

internal import EventLoop

/// The interfaces that every object has: `Introspectable` and `Properties`.
///
/// `Peer` is answered by libdbus itself.
enum StandardInterfaces {
    static let properties: InterfaceName = "org.freedesktop.DBus.Properties"
    static let introspectable: InterfaceName = "org.freedesktop.DBus.Introspectable"
    static let peer: InterfaceName = "org.freedesktop.DBus.Peer"

    static let propertiesChanged = Signal<String, [String: Value], [String]>(
        "PropertiesChanged",
        of: properties,
        arguments: ["interface_name", "changed_properties", "invalidated_properties"]
    )

    /// The standard interfaces of an object, or of a node on the way to one.
    @LoopActor static func all(
        of object: ExportedObject?,
        at path: ObjectPath,
        in tree: ObjectTree
    ) -> [Interface] {
        let introspection = Interface(
            introspectable,
            [
                .method("Introspect", out: ["xml_data"]) { call -> String in
                    IntrospectionXML.document(
                        interfaces: object?.interfaces ?? [],
                        children: tree.children(of: path, for: call.sender)
                    )
                }
            ]
        )
        return [introspection] + (object.map { [properties(of: $0)] } ?? [])
    }

    @LoopActor private static func properties(of object: ExportedObject) -> Interface {
        Interface(
            properties,
            [
                .method("Get", in: ["interface_name", "property_name"], out: ["value"]) {
                    (call, interface: String, name: String) -> PropertyContent in
                    try find(name, of: interface, in: object).get(call)
                },
                .method("GetAll", in: ["interface_name"], out: ["properties"]) {
                    (call, interface: String) -> [String: PropertyContent] in
                    var contents: [String: PropertyContent] = [:]
                    for property in try interfaces(interface, of: object).flatMap(\.properties) {
                        contents[property.name.string] = try property.get(call)
                    }
                    return contents
                },
                Interface.Member(kind: .method(set(in: object))),
                .signal(propertiesChanged),
            ]
        )
    }

    /// The interface by name; for an empty name, all that have properties, as the specification
    /// allows.
    private static func interfaces(
        _ name: String,
        of object: ExportedObject
    ) throws(DBusError) -> [Interface] {
        let found =
            name.isEmpty
            ? object.interfaces : object.interfaces.filter { $0.name.string == name }
        guard !found.isEmpty else {
            throw DBusError(.unknownInterface, "the object has no interface “\(name)”")
        }
        return found
    }

    /// `Set` reads the new value as the property's own type instead of a dynamic one.
    private static func set(in object: ExportedObject) -> Method {
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
            answer.order.run { call.run(in: object, answer) }
        }
    }
    fileprivate static func find(
        _ name: String,
        of interface: String,
        in object: ExportedObject
    ) throws(DBusError) -> Property {
        for candidate in try interfaces(interface, of: object) {
            if let property = candidate.property(name) { return property }
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

    func run(in object: ExportedObject, _ answer: Answer) {
        do {
            try set(in: object)
            answer.succeed()
        } catch {
            answer.fail(error)
        }
    }

    private func set(in object: ExportedObject) throws {
        // A value of another type than the property's is not read at all: it may be huge.
        var (interface, name, type) = ("", "", Signature(unchecked: ""))
        try message.expect("ssv")
        try message.readArgument(0) { reader in
            interface = try reader.next()
            name = try reader.next()
            try reader.readVariant { _, content throws(DBusError) in type = content }
        }
        let property = try StandardInterfaces.find(name, of: interface, in: object)
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
