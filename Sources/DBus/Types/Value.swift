// SPDX-License-Identifier: Apache-2.0

/// A value whose type is only known while the program runs: what a variant holds.
///
/// Each takes some forty bytes of memory. Of a message with more than four million of them, such as
/// a picture byte by byte, none is read; read those as the types that they have.
public enum Value: Hashable, Sendable {
    /// `y`
    case byte(UInt8)
    /// `b`
    case bool(Bool)
    /// `n`
    case int16(Int16)
    /// `q`
    case uint16(UInt16)
    /// `i`
    case int32(Int32)
    /// `u`
    case uint32(UInt32)
    /// `x`
    case int64(Int64)
    /// `t`
    case uint64(UInt64)
    /// `d`
    case double(Double)
    /// `s`
    case string(String)
    /// `o`
    case objectPath(ObjectPath)
    /// `g`
    case signature(Signature)
    /// `h`
    case descriptor(UnixDescriptor)
    /// `a`, with the signature of its elements, which an empty array has as well.
    case array(of: Signature, [Value])
    /// `()`, with at least one member.
    case structure([Value])
    /// `a{}`, with the signatures of keys and values, in the order of the message.
    case dictionary(key: Signature, value: Signature, [Entry])
    /// `v`
    indirect case variant(Value)

    /// One entry of a dictionary.
    public struct Entry: Hashable, Sendable {
        /// The key, of a basic type.
        public var key: Value
        /// The value.
        public var value: Value

        /// Makes an entry.
        public init(key: Value, value: Value) {
            self.key = key
            self.value = value
        }
    }

    /// The type of the value itself, not of a variant around it.
    public var signature: Signature {
        switch self {
        case .byte: UInt8.signature
        case .bool: Bool.signature
        case .int16: Int16.signature
        case .uint16: UInt16.signature
        case .int32: Int32.signature
        case .uint32: UInt32.signature
        case .int64: Int64.signature
        case .uint64: UInt64.signature
        case .double: Double.signature
        case .string: String.signature
        case .objectPath: ObjectPath.signature
        case .signature: Signature.signature
        case .descriptor: UnixDescriptor.signature
        case .array(let element, _): Signature(unchecked: "a\(element)")
        case .structure(let members):
            Signature(unchecked: "(\(members.map(\.signature.string).joined()))")
        case .dictionary(let key, let value, _): Signature(unchecked: "a{\(key)\(value)}")
        case .variant: Signature(unchecked: "v")
        }
    }
}

extension Value {
    /// The boolean that this is, `nil` if it is something else.
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// The number that this is, `nil` if it is something else.
    public var double: Double? { if case .double(let value) = self { value } else { nil } }

    /// The text that this is, `nil` if it is something else.
    public var string: String? { if case .string(let value) = self { value } else { nil } }

    /// The number that this is, of whatever integer type; `nil` if it is something else.
    public var integer: Int? {
        switch self {
        case .byte(let value): Int(value)
        case .int16(let value): Int(value)
        case .uint16(let value): Int(value)
        case .int32(let value): Int(value)
        case .uint32(let value): Int(value)
        case .int64(let value): Int(exactly: value)
        case .uint64(let value): Int(exactly: value)
        default: nil
        }
    }
}

extension Value: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByFloatLiteral
{
    /// Makes a string.
    public init(stringLiteral value: String) { self = .string(value) }

    /// Makes a boolean.
    public init(booleanLiteral value: Bool) { self = .bool(value) }

    /// Makes a double.
    public init(floatLiteral value: Double) { self = .double(value) }
}
