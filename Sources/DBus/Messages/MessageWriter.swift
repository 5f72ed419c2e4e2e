// SPDX-License-Identifier: Apache-2.0

internal import CDBus
private import Glibc

/// The end of a message that is being written, or of a container in it.
///
/// It lives only as long as the closure that it is passed to, inside a message that lives longer.
public struct MessageWriter: ~Copyable {
    private var iterator: DBusMessageIter
    /// How many containers it is in.
    private let depth: Int

    /// How long the message's body is, to be known before it is sent: a bus closes the connection
    /// of who sends more than it allows.
    private(set) var size: Int
    /// How many descriptors the message carries.
    private(set) var descriptorCount: Int
    /// Whether the message holds part of a container that was not written to its end.
    private(set) var hasAbandoned = false

    /// What the specification lets pass, variants included; who sends more loses the connection.
    private static let greatestDepth = 64
    private static let greatestArraySize = 1 << 26
    private static let greatestSize = 1 << 27

    /// Begins to write behind the last argument.
    ///
    /// The C function is `dbus_message_iter_init_append`.
    init(appendingTo message: OpaquePointer, size: Int, descriptorCount: Int) {
        iterator = DBusMessageIter()
        depth = 0
        self.size = size
        self.descriptorCount = descriptorCount
        dbus_message_iter_init_append(message, &iterator)
    }

    private init(inside outer: borrowing MessageWriter) {
        iterator = DBusMessageIter()
        depth = outer.depth + 1
        size = outer.size
        descriptorCount = outer.descriptorCount
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
    /// - Throws: What the body throws, or `LimitsExceeded` if it is larger than 64 MiB.
    public mutating func appendArray(
        of element: Signature,
        _ body: (inout MessageWriter) throws(DBusError) -> Void
    ) throws(DBusError) {
        try advance(by: 4, alignment: 4)
        try advance(by: 0, alignment: element.alignment)
        let start = size
        try appendContainer(TypeCode.array, element) { writer throws(DBusError) in
            try body(&writer)
            guard writer.size - start <= Self.greatestArraySize else { throw .arrayTooLarge }
        }
    }

    /// Writes a structure.
    ///
    /// - Parameter body: Writes the members, of which there must be at least one.
    /// - Throws: What the body throws.
    public mutating func appendStruct(
        _ body: (inout MessageWriter) throws(DBusError) -> Void
    ) throws(DBusError) {
        try advance(by: 0, alignment: 8)
        try appendContainer(TypeCode.structure, nil, body)
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
        try advance(by: content.string.utf8.count + 2)
        try appendContainer(TypeCode.variant, content, body)
    }

    /// Writes one entry of a dictionary whose values are of one type.
    public mutating func appendEntry(
        _ key: some DBusKey,
        _ value: some DBusEncodable
    ) throws(DBusError) {
        try appendEntry { writer throws(DBusError) in
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
        try appendEntry { writer throws(DBusError) in
            try key.encode(into: &writer)
            try writer.appendVariant(of: type(of: value).signature) { writer throws(DBusError) in
                try value.encode(into: &writer)
            }
        }
    }

    /// Writes one entry of a dictionary: the body writes the key, then the value.
    mutating func appendEntry(
        _ body: (inout MessageWriter) throws(DBusError) -> Void
    ) throws(DBusError) {
        try advance(by: 0, alignment: 8)
        try appendContainer(TypeCode.dictionaryEntry, nil, body)
    }

    // MARK: Onto libdbus

    private mutating func appendContainer(
        _ type: CInt,
        _ content: Signature?,
        _ body: (inout MessageWriter) throws(DBusError) -> Void
    ) throws(DBusError) {
        guard depth < Self.greatestDepth else {
            throw DBusError(.invalidArguments, "a value is nested too deeply for the bus")
        }
        var inner = MessageWriter(inside: self)
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
            // Whoever takes the error for none has a message that cannot be sent.
            hasAbandoned = true
            throw error
        }
        (size, descriptorCount) = (inner.size, inner.descriptorCount)
        if inner.hasAbandoned { hasAbandoned = true }
        guard dbus_message_iter_close_container(&iterator, &inner.iterator) != 0 else {
            throw .outOfMemory
        }
    }

    /// Writes a number as it is in memory.
    mutating func appendFixed<Number: BitwiseCopyable>(
        _ type: CInt,
        _ number: Number
    ) throws(DBusError) {
        let length = MemoryLayout<Number>.size
        try advance(by: length, alignment: length)
        var number = number
        guard dbus_message_iter_append_basic(&iterator, type, &number) != 0 else {
            throw .outOfMemory
        }
    }

    /// Writes an array of numbers as they are in memory, in one go.
    mutating func appendFixedArray<Element: FixedSizeBasic>(
        _ elements: [Element]
    ) throws(DBusError) {
        let length = MemoryLayout<Element>.size
        let (type, count) = (Element.typeCode, elements.count)
        guard count <= Self.greatestArraySize / length else { throw .arrayTooLarge }
        try appendArray(of: Element.signature) { writer throws(DBusError) in
            try writer.advance(by: count * length, alignment: length)
            let appended = elements.withUnsafeBufferPointer { buffer in
                guard var start = buffer.baseAddress, count > 0 else { return dbus_bool_t(1) }
                return dbus_message_iter_append_fixed_array(
                    &writer.iterator,
                    type,
                    &start,
                    CInt(count)
                )
            }
            guard appended != 0 else { throw .outOfMemory }
        }
    }

    mutating func appendText(_ type: CInt, _ text: String) throws(DBusError) {
        let length = text.utf8.count
        if type == TypeCode.signature {
            try advance(by: length + 2)
        } else {
            try advance(by: length + 5, alignment: 4)
        }
        let appended: dbus_bool_t? = text.withCString { pointer in
            guard strlen(pointer) == length else { return nil }
            var pointer: UnsafePointer<CChar>? = pointer
            return dbus_message_iter_append_basic(&iterator, type, &pointer)
        }
        guard let appended else {
            throw DBusError(.invalidArguments, "a text on the bus cannot contain a NUL")
        }
        guard appended != 0 else { throw .outOfMemory }
    }

    /// Writes a duplicate of a descriptor.
    mutating func appendDescriptor(_ number: CInt) throws(DBusError) {
        try advance(by: 4, alignment: 4)
        descriptorCount += 1
        var number = number
        guard dbus_message_iter_append_basic(&iterator, TypeCode.unixDescriptor, &number) != 0
        else {
            // Memory is as good as never short, other than numbers of descriptors.
            throw DBusError(.limitsExceeded, "this process cannot open another descriptor")
        }
    }

    /// Counts what is about to be written, and refuses what is too much for any bus.
    private mutating func advance(by length: Int, alignment: Int = 1) throws(DBusError) {
        size = (size + alignment - 1) & -alignment
        guard length <= Self.greatestSize - size else {
            throw DBusError(.limitsExceeded, "a message on the bus can have at most 128 MiB")
        }
        size += length
    }
}

extension Signature {
    /// What the place of a value of this one type in a message is a multiple of, in bytes.
    fileprivate var alignment: Int {
        switch string.utf8.first {
        case UInt8(ascii: "y"), UInt8(ascii: "g"), UInt8(ascii: "v"): 1
        case UInt8(ascii: "n"), UInt8(ascii: "q"): 2
        case UInt8(ascii: "x"), UInt8(ascii: "t"), UInt8(ascii: "d"), UInt8(ascii: "("),
            UInt8(ascii: "{"):
            8
        default: 4
        }
    }
}

extension DBusError {
    static var outOfMemory: DBusError {
        DBusError(.noMemory, "there is not enough memory for the message")
    }

    static var notWhole: DBusError {
        DBusError(.invalidArguments, "the message holds a value that was written in part")
    }

    fileprivate static var arrayTooLarge: DBusError {
        DBusError(.limitsExceeded, "an array on the bus can have at most 64 MiB")
    }
}
