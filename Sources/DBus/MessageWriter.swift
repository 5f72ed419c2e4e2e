// SPDX-License-Identifier: Apache-2.0

internal import CDBus

/// The end of a message that is being written, or of a container in it.
///
/// It lives only as long as the closure that it is passed to, inside a message that lives longer.
public struct MessageWriter: ~Copyable {
    private var iterator: DBusMessageIter
    /// How many containers it is in.
    private let depth: Int

    /// What libdbus lets pass, variants included; who sends more loses the connection.
    private static let greatestDepth = 64

    /// Begins to write behind the last argument.
    ///
    /// The C function is `dbus_message_iter_init_append`.
    init(appendingTo message: OpaquePointer) {
        iterator = DBusMessageIter()
        depth = 0
        dbus_message_iter_init_append(message, &iterator)
    }

    private init(atDepth depth: Int) {
        iterator = DBusMessageIter()
        self.depth = depth
    }

    /// Writes a value.
    public mutating func append(_ value: some DBusEncodable) throws(DBusError) {
        try value.encode(into: &self)
    }

    /// Writes an array.
    ///
    /// - Parameters:
    ///   - element: The type of its elements.
    ///   - body: Writes the elements.
    /// - Throws: What the body throws.
    public mutating func appendArray(
        of element: Signature,
        _ body: (inout MessageWriter) throws(DBusError) -> Void
    ) throws(DBusError) {
        try appendContainer(TypeCode.array, element, body)
    }

    /// Writes a variant.
    ///
    /// - Parameters:
    ///   - content: The type of what it holds.
    ///   - body: Writes what it holds.
    /// - Throws: What the body throws.
    public mutating func appendVariant(
        of content: Signature,
        _ body: (inout MessageWriter) throws(DBusError) -> Void
    ) throws(DBusError) {
        try appendContainer(TypeCode.variant, content, body)
    }

    /// Writes one entry of a dictionary whose values are of one type.
    public mutating func appendEntry(
        _ key: some DBusKey,
        _ value: some DBusEncodable
    ) throws(DBusError) {
        try appendContainer(TypeCode.dictionaryEntry, nil) { writer throws(DBusError) in
            try key.encode(into: &writer)
            try value.encode(into: &writer)
        }
    }

    /// Writes one entry of an `a{sv}` whose value's type is known at compile time, without the
    /// detour over a ``Value``.
    public mutating func appendOption(
        _ key: String,
        _ value: some DBusEncodable
    ) throws(DBusError) {
        try appendContainer(TypeCode.dictionaryEntry, nil) { writer throws(DBusError) in
            try key.encode(into: &writer)
            try writer.appendVariant(of: type(of: value).signature) { writer throws(DBusError) in
                try value.encode(into: &writer)
            }
        }
    }

    mutating func appendContainer(
        _ type: CInt,
        _ content: Signature?,
        _ body: (inout MessageWriter) throws(DBusError) -> Void
    ) throws(DBusError) {
        guard depth < Self.greatestDepth else {
            throw DBusError(.invalidArguments, "a value is nested too deeply for the bus")
        }
        var inner = MessageWriter(atDepth: depth + 1)
        let opened =
            if let content {
                content.string.withCString {
                    dbus_message_iter_open_container(&iterator, type, $0, &inner.iterator)
                }
            } else {
                dbus_message_iter_open_container(&iterator, type, nil, &inner.iterator)
            }
        guard opened != 0 else { throw .outOfMemory }
        do {
            try body(&inner)
        } catch {
            dbus_message_iter_abandon_container(&iterator, &inner.iterator)
            throw error
        }
        guard dbus_message_iter_close_container(&iterator, &inner.iterator) != 0 else {
            throw .outOfMemory
        }
    }

    mutating func appendBasic(
        _ type: CInt,
        _ value: UnsafeRawPointer
    ) throws(DBusError) {
        guard dbus_message_iter_append_basic(&iterator, type, value) != 0 else {
            throw .outOfMemory
        }
    }

    mutating func appendText(_ type: CInt, _ text: String) throws(DBusError) {
        guard !text.utf8.contains(0) else {
            throw DBusError(.invalidArguments, "a text on the bus cannot contain a NUL")
        }
        let appended = text.withCString { pointer in
            var pointer: UnsafePointer<CChar>? = pointer
            return dbus_message_iter_append_basic(&iterator, type, &pointer)
        }
        guard appended != 0 else { throw .outOfMemory }
    }
}

extension DBusError {
    static var outOfMemory: DBusError {
        DBusError(.noMemory, "there is not enough memory for the message")
    }
}
