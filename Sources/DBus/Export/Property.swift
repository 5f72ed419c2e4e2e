// SPDX-License-Identifier: Apache-2.0

internal import EventLoop

/// How the peers of an object learn that a property has a new value.
public enum ChangeNotice: String, Hashable, Sendable {
    /// By `PropertiesChanged` with the new value.
    case value = "true"
    /// By `PropertiesChanged` without the value, which has to be asked for.
    case invalidation = "invalidates"
    /// It never has a new value.
    case constant = "const"
    /// Not at all.
    case none = "false"
}

/// A property of an interface.
struct Property: Sendable {
    let name: MemberName
    let signature: Signature
    let notice: ChangeNotice

    /// Fetches the value for a caller.
    let get: @LoopActor (Call) throws -> PropertyContent

    /// Takes a new value out of the variant that comes next; `nil` if the property cannot be set.
    let set: (@LoopActor (Call, inout MessageReader) throws -> Void)?
}

/// The value of a property, to be written as a variant straight into a message.
struct PropertyContent: DBusEncodable {
    private let write: @Sendable (inout MessageWriter) throws(DBusError) -> Void

    init<Content: DBusEncodable>(_ content: Content) {
        write = { writer throws(DBusError) in
            try writer.appendVariant(of: Content.signature) { writer throws(DBusError) in
                try content.encode(into: &writer)
            }
        }
    }

    /// A value that is of no type known here; it is not the value of a property of type `v`.
    init(of value: Value) {
        write = { writer throws(DBusError) in try value.encode(into: &writer) }
    }

    static var signature: Signature { Value.signature }

    func encode(into writer: inout MessageWriter) throws(DBusError) {
        try write(&writer)
    }
}

extension Interface.Member {
    /// A property that can be read.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - notice: How its changes are told, when the object says that there is one:
    ///     ``ExportedObject/propertiesChanged(_:of:)``.
    ///   - get: Returns the value for a caller.
    /// - Returns: A member for the table.
    public static func property<Content: DBusCodable>(
        _ name: MemberName,
        notice: ChangeNotice = .value,
        get: @escaping @LoopActor (Call) throws -> Content
    ) -> Self {
        Self(kind: .property(make(name, notice, get: get, set: nil)))
    }

    /// A property that can be read and set.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - notice: How its changes are told.
    ///   - get: Returns the value for a caller.
    ///   - set: Takes a new value from a caller, or throws what it is refused with.
    /// - Returns: A member for the table.
    public static func property<Content: DBusCodable>(
        _ name: MemberName,
        notice: ChangeNotice = .value,
        get: @escaping @LoopActor (Call) throws -> Content,
        set: @escaping @LoopActor (Call, Content) throws -> Void
    ) -> Self {
        Self(kind: .property(make(name, notice, get: get, set: set)))
    }

    private static func make<Content: DBusCodable>(
        _ name: MemberName,
        _ notice: ChangeNotice,
        get: @escaping @LoopActor (Call) throws -> Content,
        set: (@LoopActor (Call, Content) throws -> Void)?
    ) -> Property {
        Property(
            name: name,
            signature: Content.signature,
            notice: notice,
            get: { call in PropertyContent(try get(call)) },
            set: set.map(setter)
        )
    }

    /// What reads a variant of the property's type and passes on what it holds.
    private static func setter<Content: DBusCodable>(
        _ set: @escaping @LoopActor (Call, Content) throws -> Void
    ) -> @LoopActor (Call, inout MessageReader) throws -> Void {
        { call, reader in
            var content: Content?
            try reader.readContainer(TypeCode.variant) { reader throws(DBusError) in
                content = try Content(from: &reader)
            }
            if let content { try set(call, content) }
        }
    }
}
