// SPDX-License-Identifier: Apache-2.0

/// A type with a fixed place in the bus's type system.
public protocol DBusType: Sendable {
    /// The type on the bus; one complete type.
    static var signature: Signature { get }
}

/// A type whose values can be written into a message.
public protocol DBusEncodable: DBusType {
    /// Writes the value.
    ///
    /// - Parameter writer: Where to; exactly one value of the type's signature is to be written.
    /// - Throws: If the value has no form on the bus, such as a text with a NUL in it.
    func encode(into writer: inout MessageWriter) throws(DBusError)

    /// Writes an array of such values; types that can do so faster than one by one have their own.
    static func encode(array: [Self], into writer: inout MessageWriter) throws(DBusError)
}

extension DBusEncodable {
    /// Writes an array of such values, one by one.
    public static func encode(
        array: [Self],
        into writer: inout MessageWriter
    ) throws(DBusError) {
        try writer.appendArray(of: signature) { writer throws(DBusError) in
            for element in array { try element.encode(into: &writer) }
        }
    }
}

/// A type whose values can be read from a message.
public protocol DBusDecodable: DBusType {
    /// Reads a value.
    ///
    /// - Parameter reader: Where from; exactly one value of the type's signature is to be read.
    /// - Throws: `InvalidArgs` if the next value is of another type.
    init(from reader: inout MessageReader) throws(DBusError)

    /// Reads an array of such values; types that can do so faster than one by one have their own.
    static func array(from reader: inout MessageReader) throws(DBusError) -> [Self]
}

extension DBusDecodable {
    /// Reads an array of such values, one by one.
    public static func array(from reader: inout MessageReader) throws(DBusError) -> [Self] {
        var elements: [Self] = []
        try reader.readArray { reader throws(DBusError) in
            elements.append(try Self(from: &reader))
        }
        return elements
    }
}

/// A type that can be written into messages and read from them.
public typealias DBusCodable = DBusEncodable & DBusDecodable

/// A type that can be the key of a dictionary on the bus.
public protocol DBusKey: DBusCodable, Hashable {}

/// A number that libdbus copies from and to memory as it is.
protocol FixedSizeBasic: DBusKey, BitwiseCopyable {
    static var typeCode: CInt { get }
    init()
}

extension FixedSizeBasic {
    /// The one letter of the type.
    public static var signature: Signature {
        Signature(unchecked: String(UnicodeScalar(UInt8(truncatingIfNeeded: typeCode))))
    }

    /// Writes the number.
    public func encode(into writer: inout MessageWriter) throws(DBusError) {
        try writer.appendFixed(Self.typeCode, self)
    }

    /// Writes an array of such numbers in one go.
    public static func encode(
        array: [Self],
        into writer: inout MessageWriter
    ) throws(DBusError) {
        try writer.appendFixedArray(array)
    }

    /// Reads a number.
    public init(from reader: inout MessageReader) throws(DBusError) {
        var value = Self()
        try reader.readBasic(Self.typeCode, into: &value)
        self = value
    }

    /// Reads an array of such numbers in one go.
    public static func array(from reader: inout MessageReader) throws(DBusError) -> [Self] {
        try reader.readFixedArray()
    }
}

extension UInt8: FixedSizeBasic { static var typeCode: CInt { TypeCode.byte } }
extension Int16: FixedSizeBasic { static var typeCode: CInt { TypeCode.int16 } }
extension UInt16: FixedSizeBasic { static var typeCode: CInt { TypeCode.uint16 } }
extension Int32: FixedSizeBasic { static var typeCode: CInt { TypeCode.int32 } }
extension UInt32: FixedSizeBasic { static var typeCode: CInt { TypeCode.uint32 } }
extension Int64: FixedSizeBasic { static var typeCode: CInt { TypeCode.int64 } }
extension UInt64: FixedSizeBasic { static var typeCode: CInt { TypeCode.uint64 } }
extension Double: FixedSizeBasic { static var typeCode: CInt { TypeCode.double } }

extension Bool: DBusKey {
    /// The letter `b`.
    public static var signature: Signature { Signature(unchecked: "b") }

    /// Writes the value, which takes four bytes on the bus.
    public func encode(into writer: inout MessageWriter) throws(DBusError) {
        try writer.appendFixed(TypeCode.boolean, UInt32(self ? 1 : 0))
    }

    /// Reads a value.
    public init(from reader: inout MessageReader) throws(DBusError) {
        var value: UInt32 = 0
        try reader.readBasic(TypeCode.boolean, into: &value)
        self = value != 0
    }
}

extension String: DBusKey {
    /// The letter `s`.
    public static var signature: Signature { Signature(unchecked: "s") }

    /// Writes the text, which must not contain a NUL.
    public func encode(into writer: inout MessageWriter) throws(DBusError) {
        try writer.appendText(TypeCode.string, self)
    }

    /// Reads a text.
    public init(from reader: inout MessageReader) throws(DBusError) {
        self = try reader.readText(TypeCode.string)
    }
}

extension ObjectPath: DBusKey {
    /// The letter `o`.
    public static var signature: Signature { Signature(unchecked: "o") }

    /// Writes the path.
    public func encode(into writer: inout MessageWriter) throws(DBusError) {
        try writer.appendText(TypeCode.objectPath, string)
    }

    /// Reads a path.
    public init(from reader: inout MessageReader) throws(DBusError) {
        self.init(unchecked: try reader.readText(TypeCode.objectPath))
    }
}

extension Signature: DBusKey {
    /// The letter `g`.
    public static var signature: Signature { Signature(unchecked: "g") }

    /// Writes the signature.
    public func encode(into writer: inout MessageWriter) throws(DBusError) {
        try writer.appendText(TypeCode.signature, string)
    }

    /// Reads a signature.
    public init(from reader: inout MessageReader) throws(DBusError) {
        self.init(unchecked: try reader.readText(TypeCode.signature))
    }
}

extension InterfaceName: DBusKey {
    /// The letter `s`.
    public static var signature: Signature { String.signature }

    /// Writes the name as a text.
    public func encode(into writer: inout MessageWriter) throws(DBusError) {
        try string.encode(into: &writer)
    }

    /// Reads a text, which must be the name of an interface.
    public init(from reader: inout MessageReader) throws(DBusError) {
        let text = try String(from: &reader)
        guard let name = InterfaceName(validating: text) else {
            throw DBusError(.invalidArguments, "“\(text)” is no name of an interface")
        }
        self = name
    }
}
