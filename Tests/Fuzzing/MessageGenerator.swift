// SPDX-License-Identifier: Apache-2.0

internal import CDBus
package import DBus

/// Random valid messages of all kinds, as bytes.
package struct MessageGenerator: Sendable {
    package var values: ValueGenerator

    package init(seed: UInt64) {
        values = ValueGenerator(seed: seed)
        values.hasLongTexts = false
    }

    /// The bytes of a message in either order of bytes, and what is where in them.
    ///
    /// - Parameter size: How many values there are in it, about.
    /// - Returns: The bytes and their map.
    package mutating func message(size: Int) -> (bytes: [UInt8], map: WireMap) {
        let kinds = [
            DBUS_MESSAGE_TYPE_METHOD_CALL, DBUS_MESSAGE_TYPE_METHOD_RETURN,
            DBUS_MESSAGE_TYPE_ERROR, DBUS_MESSAGE_TYPE_SIGNAL,
        ]
        let bytes = marshalled(values.types.random.pick(kinds), arguments(size: size))
        let map = WireMap(of: bytes)
        guard values.types.random.oneIn(4) else { return (bytes, map) }
        return (map.swapped(bytes), map)
    }

    private mutating func marshalled(_ kind: CInt, _ arguments: [Value]) -> [UInt8] {
        guard let pointer = dbus_message_new(kind) else { preconditionFailure("no memory") }
        var message = Message(adopting: pointer)
        address(pointer, kind)
        let appended: Void? = try? message.append(contentsOf: arguments)
        precondition(appended != nil, "a random value has no form on the bus")
        dbus_message_set_serial(pointer, max(1, values.number()))
        return message.marshalled()
    }

    /// Arguments of any types, or of one that programs expect.
    private mutating func arguments(size: Int) -> [Value] {
        guard values.types.random.oneIn(6) else { return values.arguments(size: size) }
        let expected: [ValueType] = [
            .dictionary(key: "s", .variant),
            .dictionary(key: "s", .array(.basic("x"))),
            .dictionary(key: "s", .basic("u")),
            .dictionary(key: "o", .dictionary(key: "s", .dictionary(key: "s", .variant))),
            .array(.array(.basic("d"))),
            .array(.basic("s")),
            .variant,
        ]
        if values.types.random.oneIn(4) { return [credentials()] }
        values.budget = size
        return [values.value(of: values.types.random.pick(expected), in: Room())]
    }

    /// A table like the one by which a bus tells who a connection belongs to.
    private mutating func credentials() -> Value {
        let keys = ["UnixUserID", "ProcessID", "LinuxSecurityLabel", "UnixGroupIDs", ""]
        let types: [ValueType] = [.basic("u"), .array(.basic("y")), .array(.basic("u")), .variant]
        let entries = (0..<values.types.random.below(5)).map { _ in
            values.budget = 8
            let room = Room().inDictionary.inVariant
            let content = values.value(of: values.types.random.pick(types), in: room)
            let key = Value.string(values.types.random.pick(keys))
            return Value.Entry(key: key, value: .variant(content))
        }
        return .dictionary(key: "s", value: "v", entries)
    }

    /// Writes the header fields that messages of a kind have, and sometimes others.
    private mutating func address(_ pointer: OpaquePointer, _ kind: CInt) {
        if kind == DBUS_MESSAGE_TYPE_METHOD_CALL || kind == DBUS_MESSAGE_TYPE_SIGNAL {
            dbus_message_set_path(pointer, values.types.random.oneIn(2) ? "/" : "/org/example/Bell")
            dbus_message_set_member(pointer, "Ring")
            if kind == DBUS_MESSAGE_TYPE_SIGNAL || values.types.random.oneIn(2) {
                dbus_message_set_interface(pointer, "org.example.Bell")
            }
        } else {
            dbus_message_set_reply_serial(pointer, max(1, values.number()))
        }
        if kind == DBUS_MESSAGE_TYPE_ERROR {
            dbus_message_set_error_name(pointer, "org.example.Error.Tired")
        }
        if values.types.random.oneIn(2) { dbus_message_set_sender(pointer, ":1.42") }
        if values.types.random.oneIn(2) {
            dbus_message_set_destination(pointer, "org.example.Service")
        }
        dbus_message_set_no_reply(pointer, values.types.random.oneIn(2) ? 1 : 0)
    }
}

extension Message {
    /// The message's bytes.
    package func marshalled() -> [UInt8] {
        var data: UnsafeMutablePointer<CChar>?
        var count: CInt = 0
        guard dbus_message_marshal(pointer, &data, &count) != 0, let data else {
            preconditionFailure("no memory")
        }
        defer { dbus_free(data) }
        return Array(UnsafeRawBufferPointer(start: data, count: Int(count)))
    }

    /// Makes a message of bytes; `nil` if libdbus does not take them for one.
    package static func demarshalled(_ bytes: [UInt8]) -> Message? {
        let pointer = bytes.withUnsafeBytes { bytes in
            dbus_message_demarshal(
                bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
                CInt(bytes.count),
                nil
            )
        }
        guard let pointer else { return nil }
        return Message(adopting: pointer)
    }
}
