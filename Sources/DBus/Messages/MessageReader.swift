// SPDX-License-Identifier: Apache-2.0

internal import CDBus

/// A place between two values of a message that is being read, or of a container in it.
///
/// It lives only as long as the closure that it is passed to, inside a message that lives longer.
public struct MessageReader: ~Copyable {
    private var iterator: DBusMessageIter
    /// How many values of dynamic types may still be read.
    private var valuesLeft = Self.mostValues

    /// The most values of dynamic types that are read of one message.
    ///
    /// Each takes forty times the memory that a byte takes on the bus.
    private static let mostValues = 1 << 22

    /// Begins at the first argument.
    ///
    /// The C function is `dbus_message_iter_init`.
    package init(readingFrom message: OpaquePointer) {
        iterator = DBusMessageIter()
        dbus_message_iter_init(message, &iterator)
    }

    private init(recursingInto outer: inout DBusMessageIter) {
        iterator = DBusMessageIter()
        dbus_message_iter_recurse(&outer, &iterator)
    }

    /// Begins at the first argument, and reads no more than so many values of dynamic types.
    init(readingFrom message: OpaquePointer, values: Int) {
        self.init(readingFrom: message)
        valuesLeft = values
    }

    /// Counts a value of a dynamic type that is about to be read.
    mutating func countValue() throws(DBusError) {
        guard valuesLeft > 0 else { throw DBusError(.limitsExceeded, "there are too many values") }
        valuesLeft -= 1
    }

    /// Whether there is nothing more to read.
    public var isAtEnd: Bool { mutating get { nextType == TypeCode.invalid } }

    /// Reads a value.
    public mutating func next<Element: DBusDecodable>(
        _ type: Element.Type = Element.self
    ) throws(DBusError) -> Element {
        try Element(from: &self)
    }

    /// Reads an array.
    ///
    /// - Parameter element: Called for each element, of which it reads exactly one.
    /// - Throws: What the closure throws, or `InvalidArgs` if the next value is no array.
    public mutating func readArray(
        _ element: (inout MessageReader) throws(DBusError) -> Void
    ) throws(DBusError) {
        try readContainer(TypeCode.array) { reader throws(DBusError) in
            while !reader.isAtEnd { try element(&reader) }
        }
    }

    /// Reads an entry of a dictionary.
    ///
    /// - Parameter body: Reads the key, then the value.
    /// - Throws: What the closure throws, or `InvalidArgs` if the next value is no entry.
    public mutating func readEntry(
        _ body: (inout MessageReader) throws(DBusError) -> Void
    ) throws(DBusError) {
        try readContainer(TypeCode.dictionaryEntry, body)
    }

    /// Reads a structure.
    ///
    /// - Parameter body: Reads all members, and returns what they are together.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws, or `InvalidArgs` if the next value is no structure or has
    ///   more members.
    public mutating func readStruct<Result>(
        _ body: (inout MessageReader) throws(DBusError) -> Result
    ) throws(DBusError) -> Result {
        try readContainer(TypeCode.structure) { reader throws(DBusError) in
            let result = try body(&reader)
            try reader.expect(TypeCode.invalid)
            return result
        }
    }

    /// Reads a variant whose type is looked at before anything of it is read.
    ///
    /// - Parameter body: Takes the type of what it holds, and reads that or leaves it.
    /// - Throws: What the closure throws, or `InvalidArgs` if the next value is no variant.
    public mutating func readVariant(
        _ body: (inout MessageReader, Signature) throws(DBusError) -> Void
    ) throws(DBusError) {
        try readContainer(TypeCode.variant) { reader throws(DBusError) in
            try body(&reader, reader.signatureOfNext)
        }
    }

    /// Passes over a value.
    mutating func skip() {
        dbus_message_iter_next(&iterator)
    }

    var nextType: CInt {
        mutating get { dbus_message_iter_get_arg_type(&iterator) }
    }

    /// The signature of the value that comes next.
    var signatureOfNext: Signature {
        mutating get {
            guard let text = dbus_message_iter_get_signature(&iterator) else {
                return Signature(unchecked: "")
            }
            defer { dbus_free(text) }
            return Signature(unchecked: String(cString: text))
        }
    }

    mutating func readContainer<Result>(
        _ type: CInt,
        _ body: (inout MessageReader) throws(DBusError) -> Result
    ) throws(DBusError) -> Result {
        try expect(type)
        var inner = MessageReader(recursingInto: &iterator)
        inner.valuesLeft = valuesLeft
        let result = try body(&inner)
        valuesLeft = inner.valuesLeft
        dbus_message_iter_next(&iterator)
        return result
    }

    /// Reads an array of numbers as they are in memory, in one go.
    mutating func readFixedArray<Element: FixedSizeBasic>() throws(DBusError) -> [Element] {
        try expect(TypeCode.array)
        guard dbus_message_iter_get_element_type(&iterator) == Element.typeCode else {
            throw DBusError(
                .invalidArguments,
                "expected “a\(Element.signature)”, there is “\(signatureOfNext)”"
            )
        }
        return try readContainer(TypeCode.array) { reader throws(DBusError) in
            var start: UnsafeRawPointer?
            var count: CInt = 0
            dbus_message_iter_get_fixed_array(&reader.iterator, &start, &count)
            guard let start, count > 0 else { return [] }
            let size = Int(count) * MemoryLayout<Element>.size
            return [Element](unsafeUninitializedCapacity: Int(count)) { buffer, initialized in
                UnsafeMutableRawBufferPointer(buffer).baseAddress?
                    .copyMemory(from: start, byteCount: size)
                initialized = Int(count)
            }
        }
    }

    mutating func readBasic(
        _ type: CInt,
        into memory: UnsafeMutableRawPointer
    ) throws(DBusError) {
        try expect(type)
        dbus_message_iter_get_basic(&iterator, memory)
        dbus_message_iter_next(&iterator)
    }

    mutating func readText(_ type: CInt) throws(DBusError) -> String {
        // libdbus has checked that the text is UTF-8 without a NUL; the message keeps it.
        var pointer: UnsafePointer<CChar>?
        try readBasic(type, into: &pointer)
        return pointer.map { String(cString: $0) } ?? ""
    }

    private mutating func expect(_ type: CInt) throws(DBusError) {
        let found = nextType
        guard found != type else { return }
        func word(_ type: CInt) -> String {
            type == TypeCode.invalid
                ? "nothing" : "“\(UnicodeScalar(UInt8(truncatingIfNeeded: type)))”"
        }
        throw DBusError(.invalidArguments, "expected \(word(type)), there is \(word(found))")
    }
}
