// SPDX-License-Identifier: Apache-2.0

/// A structure on the bus whose members are known at compile time: `(tt)` is
/// `Struct<UInt64, UInt64>`.
///
/// Types of your own travel as one by ``DBusConvertible``.
public struct Struct<each Member: DBusType>: DBusType {
    /// What it holds, in order.
    public var members: (repeat each Member)

    /// Makes a structure of its members, of which there must be at least one.
    public init(_ members: repeat each Member) {
        self.members = (repeat each members)
    }

    /// The types of the members, in parentheses.
    public static var signature: Signature {
        var letters = "("
        for type in repeat (each Member).self { letters += type.signature.string }
        precondition(letters != "(", "a structure on the bus has at least one member")
        return Signature(unchecked: letters + ")")
    }
}

extension Struct: DBusEncodable where repeat each Member: DBusEncodable {
    /// Writes the members in order.
    public func encode(into writer: inout MessageWriter) throws(DBusError) {
        try writer.appendStruct { writer throws(DBusError) in
            for member in repeat each members { try member.encode(into: &writer) }
        }
    }
}

extension Struct: DBusDecodable where repeat each Member: DBusDecodable {
    /// Reads a structure, which must have exactly these members.
    public init(from reader: inout MessageReader) throws(DBusError) {
        self = try reader.readStruct { reader throws(DBusError) in
            Struct(repeat try reader.next((each Member).self))
        }
    }
}

extension Struct: Equatable where repeat each Member: Equatable {
    /// Whether all members are equal.
    public static func == (left: Self, right: Self) -> Bool {
        for (left, right) in repeat (each left.members, each right.members) {
            guard left == right else { return false }
        }
        return true
    }
}

extension Struct: Hashable where repeat each Member: Hashable {
    /// Adds all members.
    public func hash(into hasher: inout Hasher) {
        for member in repeat each members { hasher.combine(member) }
    }
}
