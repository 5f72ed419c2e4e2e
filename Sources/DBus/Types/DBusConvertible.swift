// SPDX-License-Identifier: Apache-2.0

/// A type of your own that travels over the bus in the form of another type.
///
/// A structure says which ``Struct`` it is, an enumeration with a raw value needs nothing more
/// than the conformance:
///
/// ```swift
/// struct Place: DBusConvertible {
///     var latitude: Double
///     var longitude: Double
///
///     var dbusForm: Struct<Double, Double> { Struct(latitude, longitude) }
///     init(dbusForm form: Struct<Double, Double>) { (latitude, longitude) = form.members }
/// }
///
/// enum Gait: String, DBusConvertible { case walking, running }
/// ```
public protocol DBusConvertible: DBusEncodable, DBusDecodable {
    /// The type that stands for it in messages.
    associatedtype DBusForm: DBusEncodable & DBusDecodable

    /// The value in the form in which it is written.
    var dbusForm: DBusForm { get }

    /// Makes a value of what was read.
    ///
    /// - Parameter form: What the peer has sent.
    /// - Throws: `InvalidArgs` with a text that says what is allowed, if that is no such value.
    init(dbusForm form: DBusForm) throws(DBusError)
}

extension DBusConvertible {
    /// The type of the form.
    public static var signature: Signature { DBusForm.signature }

    /// Writes the form.
    public func encode(into writer: inout MessageWriter) throws(DBusError) {
        try dbusForm.encode(into: &writer)
    }

    /// Reads the form and makes a value of it.
    public init(from reader: inout MessageReader) throws(DBusError) {
        try self.init(dbusForm: DBusForm(from: &reader))
    }
}

extension DBusConvertible where Self: RawRepresentable, RawValue: DBusEncodable & DBusDecodable {
    /// The raw value.
    public var dbusForm: RawValue { rawValue }

    /// Makes a value of a raw value that the type knows.
    public init(dbusForm form: RawValue) throws(DBusError) {
        guard let value = Self(rawValue: form) else {
            throw DBusError(.invalidArguments, "“\(form)” is no \(Self.self)")
        }
        self = value
    }
}
