// SPDX-License-Identifier: Apache-2.0

internal import CDBus

/// The types of a sequence of values, in the specification's letters: `a{sv}`, `su`, or nothing.
public struct Signature: DBusName {
    /// The letters.
    public let string: String

    /// Makes a signature of letters that are known to be one.
    public init(unchecked string: String) { self.string = string }

    /// Whether letters are a signature; the C function is `dbus_signature_validate`.
    public static func isValid(_ string: String) -> Bool {
        passes(string, dbus_signature_validate)
    }

    /// Whether it stands for exactly one value, as elements of containers must.
    public var isSingle: Bool { passes(string, dbus_signature_validate_single) }
}

/// The types of values, as libdbus and the specification spell them.
enum TypeCode {
    static let invalid = CInt(0)
    static let byte = code("y")
    static let boolean = code("b")
    static let int16 = code("n")
    static let uint16 = code("q")
    static let int32 = code("i")
    static let uint32 = code("u")
    static let int64 = code("x")
    static let uint64 = code("t")
    static let double = code("d")
    static let string = code("s")
    static let objectPath = code("o")
    static let signature = code("g")
    static let unixDescriptor = code("h")
    static let array = code("a")
    static let variant = code("v")
    static let structure = code("r")
    static let dictionaryEntry = code("e")

    private static func code(_ letter: Unicode.Scalar) -> CInt { CInt(letter.value) }
}
