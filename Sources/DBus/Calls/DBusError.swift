// SPDX-License-Identifier: Apache-2.0

internal import CDBus

/// An error as it travels over the bus: a name for programs and a text for people.
///
/// A handler that throws one answers its caller with it; a call that is answered with an error
/// throws it. What goes wrong on this side (a reply that is not what was expected, a lost
/// connection) uses the standard names, so there is one kind of error to catch.
public struct DBusError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error's name, such as `org.freedesktop.DBus.Error.UnknownMethod`.
    public let name: ErrorName

    /// A sentence for people, possibly empty.
    public let message: String

    /// What else the error tells programs: the arguments behind the text, which few errors have.
    public let details: [Value]

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - name: Its name, by which programs know it.
    ///   - message: A sentence for people.
    ///   - details: What else it tells programs.
    public init(_ name: ErrorName, _ message: String, details: [Value] = []) {
        self.name = name
        self.message = message
        self.details = details
    }

    /// The name and the text in one line.
    public var description: String { "\(name): \(message)" }
}

extension ErrorName {
    private static func standard(_ word: String) -> ErrorName {
        ErrorName(unchecked: "org.freedesktop.DBus.Error.\(word)")
    }

    /// Something went wrong that has no name of its own.
    public static let failed = standard("Failed")
    /// Memory or another resource of this process is exhausted.
    public static let noMemory = standard("NoMemory")
    /// Arguments of a call are of the wrong types or out of range.
    public static let invalidArguments = standard("InvalidArgs")
    /// There is no object at the path.
    public static let unknownObject = standard("UnknownObject")
    /// The object has no such interface.
    public static let unknownInterface = standard("UnknownInterface")
    /// The interface has no such method.
    public static let unknownMethod = standard("UnknownMethod")
    /// The interface has no such property.
    public static let unknownProperty = standard("UnknownProperty")
    /// The property cannot be set.
    public static let propertyReadOnly = standard("PropertyReadOnly")
    /// The caller may not do that.
    public static let accessDenied = standard("AccessDenied")
    /// A message, a queue or this process is at a limit.
    public static let limitsExceeded = standard("LimitsExceeded")
    /// The peer or the bus cannot do that at all.
    public static let notSupported = standard("NotSupported")
    /// No answer came in time, or the peer went away before it answered.
    public static let noReply = standard("NoReply")
    /// The connection is closed.
    public static let disconnected = standard("Disconnected")
    /// Nobody owns the name.
    public static let nameHasNoOwner = standard("NameHasNoOwner")
    /// Nobody owns the name, and the bus cannot start anybody who would.
    public static let serviceUnknown = standard("ServiceUnknown")
    /// The caller has cancelled the call.
    public static let cancelled = ErrorName(unchecked: "org.waymark.DBus.Error.Cancelled")
}

/// Calls a function of libdbus that reports by `::DBusError`, and frees that on every path.
func withLibraryError<Result>(
    _ body: (UnsafeMutablePointer<CDBus.DBusError>) -> Result
) throws(DBusError) -> Result {
    var error = CDBus.DBusError()
    dbus_error_init(&error)
    defer { dbus_error_free(&error) }
    let result = body(&error)
    guard dbus_error_is_set(&error) != 0 else { return result }
    throw DBusError(
        ErrorName(unchecked: String(cString: error.name)),
        String(cString: error.message)
    )
}
