// SPDX-License-Identifier: Apache-2.0

extension Value: DBusCodable {
    /// `v`: in typed code a value of the dynamic type stands for a variant.
    public static var signature: Signature { Signature(unchecked: "v") }

    /// Writes a variant that holds the value.
    public func encode(into writer: inout MessageWriter) throws(DBusError) {
        try checkSignature()
        try writer.appendVariant(of: signature) { writer throws(DBusError) in
            try appendContent(to: &writer)
        }
    }

    /// Throws unless the value's type is one.
    ///
    /// Where values of dynamic types get into a message, all types that are named inside are seen.
    /// libdbus would abort the program for a bad one.
    private func checkSignature() throws(DBusError) {
        guard signature.isSingle else {
            throw DBusError(.invalidArguments, "there is no type “\(signature)” on the bus")
        }
    }

    /// Reads a variant and keeps what it holds.
    public init(from reader: inout MessageReader) throws(DBusError) {
        var content: Value?
        try reader.readContainer(TypeCode.variant) { reader throws(DBusError) in
            content = try Value(contentFrom: &reader)
        }
        guard let content else { throw DBusError(.invalidArguments, "a variant is empty") }
        self = content
    }

    /// Writes the value as an argument of its own type, without a variant around it.
    func encodeBare(into writer: inout MessageWriter) throws(DBusError) {
        try checkSignature()
        try appendContent(to: &writer)
    }

    private func appendContent(to writer: inout MessageWriter) throws(DBusError) {
        switch self {
        case .byte(let value): try value.encode(into: &writer)
        case .bool(let value): try value.encode(into: &writer)
        case .int16(let value): try value.encode(into: &writer)
        case .uint16(let value): try value.encode(into: &writer)
        case .int32(let value): try value.encode(into: &writer)
        case .uint32(let value): try value.encode(into: &writer)
        case .int64(let value): try value.encode(into: &writer)
        case .uint64(let value): try value.encode(into: &writer)
        case .double(let value): try value.encode(into: &writer)
        case .string(let value): try value.encode(into: &writer)
        case .objectPath(let value): try value.encode(into: &writer)
        case .signature(let value): try value.encode(into: &writer)
        case .descriptor(let value): try value.encode(into: &writer)
        case .variant(let value): try value.encode(into: &writer)
        case .array(let type, let elements):
            try writer.appendArray(of: type) { writer throws(DBusError) in
                for element in elements {
                    try element.check(type)
                    try element.appendContent(to: &writer)
                }
            }
        case .structure(let members):
            try writer.appendStruct { writer throws(DBusError) in
                for member in members { try member.appendContent(to: &writer) }
            }
        case .dictionary(let keyType, let valueType, let entries):
            let entryType = Signature(unchecked: "{\(keyType)\(valueType)}")
            try writer.appendArray(of: entryType) { writer throws(DBusError) in
                for entry in entries {
                    try entry.key.check(keyType)
                    try entry.value.check(valueType)
                    try writer.appendEntry { writer throws(DBusError) in
                        try entry.key.appendContent(to: &writer)
                        try entry.value.appendContent(to: &writer)
                    }
                }
            }
        }
    }

    /// Reads a value as the type that comes next.
    init(contentFrom reader: inout MessageReader) throws(DBusError) {
        try reader.countValue()
        switch reader.nextType {
        case TypeCode.byte: self = .byte(try UInt8(from: &reader))
        case TypeCode.boolean: self = .bool(try Bool(from: &reader))
        case TypeCode.int16: self = .int16(try Int16(from: &reader))
        case TypeCode.uint16: self = .uint16(try UInt16(from: &reader))
        case TypeCode.int32: self = .int32(try Int32(from: &reader))
        case TypeCode.uint32: self = .uint32(try UInt32(from: &reader))
        case TypeCode.int64: self = .int64(try Int64(from: &reader))
        case TypeCode.uint64: self = .uint64(try UInt64(from: &reader))
        case TypeCode.double: self = .double(try Double(from: &reader))
        case TypeCode.string: self = .string(try String(from: &reader))
        case TypeCode.objectPath: self = .objectPath(try ObjectPath(from: &reader))
        case TypeCode.signature: self = .signature(try Signature(from: &reader))
        case TypeCode.unixDescriptor: self = .descriptor(try UnixDescriptor(from: &reader))
        case TypeCode.variant: self = .variant(try Value(from: &reader))
        case TypeCode.array: self = try Self.readArray(from: &reader)
        case TypeCode.structure:
            var members: [Value] = []
            try reader.readContainer(TypeCode.structure) { reader throws(DBusError) in
                while !reader.isAtEnd { members.append(try Value(contentFrom: &reader)) }
            }
            self = .structure(members)
        case let other:
            let letter = UnicodeScalar(UInt8(truncatingIfNeeded: other))
            throw DBusError(.invalidArguments, "values of type “\(letter)” are not supported")
        }
    }

    private static func readArray(from reader: inout MessageReader) throws(DBusError) -> Value {
        // An empty array has a type, too: it comes from the signature, not from the elements.
        var types = reader.signatureOfNext.string
        types.removeFirst()
        if types.utf8.first == UInt8(ascii: "{") {
            types.removeFirst()
            types.removeLast()
            var entries: [Entry] = []
            try reader.readContainer(TypeCode.array) { reader throws(DBusError) in
                while !reader.isAtEnd {
                    try reader.readContainer(TypeCode.dictionaryEntry) { entry throws(DBusError) in
                        let key = try Value(contentFrom: &entry)
                        entries.append(Entry(key: key, value: try Value(contentFrom: &entry)))
                    }
                }
            }
            let key = Signature(unchecked: String(types.removeFirst()))
            return .dictionary(key: key, value: Signature(unchecked: types), entries)
        }
        var elements: [Value] = []
        try reader.readContainer(TypeCode.array) { reader throws(DBusError) in
            while !reader.isAtEnd { elements.append(try Value(contentFrom: &reader)) }
        }
        return .array(of: Signature(unchecked: types), elements)
    }

    /// libdbus would take an element of another type for a mistake of the program and abort it.
    private func check(_ type: Signature) throws(DBusError) {
        guard signature == type else {
            throw DBusError(
                .invalidArguments,
                "a container of “\(type)” cannot hold a value of type “\(signature)”"
            )
        }
    }
}
