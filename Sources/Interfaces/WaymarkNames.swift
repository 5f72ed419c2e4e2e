// SPDX-License-Identifier: Apache-2.0

public import DBus

/// Names and paths of the service's own door, shared by the daemon and its clients.
public enum Waymark {
    /// The name by which the service is found and started.
    public static let busName: BusName = "org.waymark.Location1"

    /// The service's main object.
    public static let path: ObjectPath = "/org/waymark/Location1"

    /// The main interface: acts for the calling connection.
    public static let location: InterfaceName = "org.waymark.Location1"

    /// Where further sessions are made.
    public static let sessions: InterfaceName = "org.waymark.Location1.Sessions"

    /// One session, an object that only its owner can see.
    public static let session: InterfaceName = "org.waymark.Location1.Session"

    /// The path of a session.
    ///
    /// - Parameter number: Its number, counted from 1 while the service runs.
    /// - Returns: A path below the main object's.
    public static func sessionPath(_ number: UInt64) -> ObjectPath {
        ObjectPath(unchecked: "\(path)/session/\(number)")
    }
}

/// The signals that the main object and each session have in common.
public struct LocationSignals: Sendable {
    /// A new location.
    ///
    /// Its only receiver is the owner of the session.
    public let updated: Signal<LocationDictionary>

    /// No location can be given: a code from ``LocationFailure`` and a sentence.
    public let failed: Signal<String, String>

    /// The program's authorization, or what it allows, is another one than was told before.
    public let authorizationChanged: Signal<String, [String: Value]>

    /// The signals of the main interface.
    public static let main = LocationSignals(of: Waymark.location)

    /// The signals of a session.
    public static let session = LocationSignals(of: Waymark.session)

    private init(of interface: InterfaceName) {
        updated = Signal("LocationUpdated", of: interface, arguments: ["location"])
        failed = Signal("LocationFailed", of: interface, arguments: ["code", "message"])
        authorizationChanged = Signal(
            "AuthorizationChanged",
            of: interface,
            arguments: ["status", "details"]
        )
    }
}
