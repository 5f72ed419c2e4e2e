// SPDX-License-Identifier: Apache-2.0

extension Array: DBusType where Element: DBusType {
    /// `a` and the type of the elements.
    public static var signature: Signature { Signature(unchecked: "a\(Element.signature)") }
}

extension Array: DBusEncodable where Element: DBusEncodable {
    /// Writes the elements in order.
    public func encode(into writer: inout MessageWriter) throws(DBusError) {
        try Element.encode(array: self, into: &writer)
    }
}

extension Array: DBusDecodable where Element: DBusDecodable {
    /// Reads all elements.
    public init(from reader: inout MessageReader) throws(DBusError) {
        self = try Element.array(from: &reader)
    }
}

extension Dictionary: DBusType where Key: DBusKey, Value: DBusType {
    /// `a{…}` of the types of keys and values.
    public static var signature: Signature { Signature(unchecked: "a\(entrySignature)") }

    fileprivate static var entrySignature: Signature {
        Signature(unchecked: "{\(Key.signature)\(Value.signature)}")
    }
}

extension Dictionary: DBusEncodable where Key: DBusKey, Value: DBusEncodable {
    /// Writes the entries in the dictionary's order, which is none in particular.
    public func encode(into writer: inout MessageWriter) throws(DBusError) {
        try writer.appendArray(of: Self.entrySignature) { writer throws(DBusError) in
            for (key, value) in self { try writer.appendEntry(key, value) }
        }
    }
}

extension Dictionary: DBusDecodable where Key: DBusKey, Value: DBusDecodable {
    /// Reads all entries; of two with the same key the later one counts.
    public init(from reader: inout MessageReader) throws(DBusError) {
        var entries: [Key: Value] = [:]
        try reader.readArray { reader throws(DBusError) in
            try reader.readEntry { entry throws(DBusError) in
                let key = try Key(from: &entry)
                entries[key] = try Value(from: &entry)
            }
        }
        self = entries
    }
}
