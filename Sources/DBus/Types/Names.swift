// SPDX-License-Identifier: Apache-2.0

internal import CDBus

/// A name that follows one of the specification's grammars, checked when it is made.
///
/// libdbus takes a malformed name for a mistake of the program and may abort it, so none gets
/// that far. A literal in the source that is malformed traps: it is such a mistake.
public protocol DBusName: Hashable, Sendable, ExpressibleByStringLiteral,
    CustomStringConvertible
{
    /// The name's text.
    var string: String { get }

    /// Makes a name of a text that is known to be one.
    init(unchecked string: String)

    /// Whether a text follows the grammar.
    static func isValid(_ string: String) -> Bool
}

extension DBusName {
    /// Makes a name, or `nil` if the text does not follow the grammar.
    public init?(validating string: String) {
        guard Self.isValid(string) else { return nil }
        self.init(unchecked: string)
    }

    /// Makes a name of a literal, which must follow the grammar.
    public init(stringLiteral literal: String) {
        precondition(Self.isValid(literal), "“\(literal)” is not a valid \(Self.self)")
        self.init(unchecked: literal)
    }

    /// The name's text.
    public var description: String { string }

    /// Passes the text on to C where it lies: as an argument itself it would be copied.
    func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        string.withCString(body)
    }
}

/// A unique (`:1.42`) or well-known (`org.example.Service`) name of a connection.
public struct BusName: DBusName {
    /// The name's text.
    public let string: String

    /// Makes a name of a text that is known to be one.
    public init(unchecked string: String) { self.string = string }

    /// Whether the name is a connection's own, given by the bus and never used again.
    public var isUnique: Bool { string.utf8.first == UInt8(ascii: ":") }

    /// Whether a text is a bus name.
    ///
    /// The corresponding C function is `dbus_validate_bus_name`.
    public static func isValid(_ string: String) -> Bool {
        passes(string, dbus_validate_bus_name)
    }
}

/// The path of an object, such as `/org/example/Thing`.
public struct ObjectPath: DBusName {
    /// The path's text.
    public let string: String

    /// Makes a path of a text that is known to be one.
    public init(unchecked string: String) { self.string = string }

    /// Whether a text is an object path.
    ///
    /// The corresponding C function is `dbus_validate_path`.
    public static func isValid(_ string: String) -> Bool {
        passes(string, dbus_validate_path)
    }

    /// The path above it, `nil` of the topmost one.
    var parent: ObjectPath? {
        guard string != "/", let slash = string.lastIndex(of: "/") else { return nil }
        return ObjectPath(unchecked: slash == string.startIndex ? "/" : String(string[..<slash]))
    }

    /// The name of the step below this path on the way to another one, `nil` if it does not lead
    /// there: from `/org` to `/org/example/Thing` it is `example`.
    func nextStep(towards other: ObjectPath) -> Substring? {
        let prefix = string == "/" ? "/" : string + "/"
        guard other.string.hasPrefix(prefix), other.string.utf8.count > prefix.utf8.count else {
            return nil
        }
        return other.string.dropFirst(prefix.count).prefix { $0 != "/" }
    }
}

/// The name of an interface, such as `org.example.Thing`.
public struct InterfaceName: DBusName {
    /// The name's text.
    public let string: String

    /// Makes a name of a text that is known to be one.
    public init(unchecked string: String) { self.string = string }

    /// Whether a text is an interface name; the C function is `dbus_validate_interface`.
    public static func isValid(_ string: String) -> Bool {
        passes(string, dbus_validate_interface)
    }
}

/// The name of a method, signal or property.
public struct MemberName: DBusName {
    /// The name's text.
    public let string: String

    /// Makes a name of a text that is known to be one.
    public init(unchecked string: String) { self.string = string }

    /// Whether a text is a member name.
    ///
    /// The corresponding C function is `dbus_validate_member`.
    public static func isValid(_ string: String) -> Bool {
        passes(string, dbus_validate_member)
    }
}

/// The name of an error, such as `org.example.Error.Tired`.
public struct ErrorName: DBusName {
    /// The name's text.
    public let string: String

    /// Makes a name of a text that is known to be one.
    public init(unchecked string: String) { self.string = string }

    /// Whether a text is an error name.
    ///
    /// The corresponding C function is `dbus_validate_error_name`.
    public static func isValid(_ string: String) -> Bool {
        passes(string, dbus_validate_error_name)
    }
}

/// Whether a validator of libdbus accepts all of a text, not only what precedes a NUL in it.
func passes(
    _ string: String,
    _ validate: (UnsafePointer<CChar>?, UnsafeMutablePointer<CDBus.DBusError>?) -> dbus_bool_t
) -> Bool {
    !string.utf8.contains(0) && validate(string, nil) != 0
}
