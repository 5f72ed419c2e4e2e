// SPDX-License-Identifier: Apache-2.0

public import DBus

/// How exactly a program wants to know, in the words of `GetLocation` and `DesiredAccuracy`.
public enum DesiredAccuracy: String, CaseIterable, Hashable, Sendable {
    /// The most exact fix that there is, whatever it costs.
    case bestForNavigation = "best-for-navigation"
    /// The most exact fix that there is.
    case best
    /// Within ten metres.
    case tenMeters = "ten-meters"
    /// Within a hundred metres.
    case hundredMeters = "hundred-meters"
    /// Within a kilometre.
    case kilometer
    /// Within three kilometres.
    case threeKilometers = "three-kilometers"
    /// A cell of some kilometres, even if the program may know better.
    case reduced

    /// The accuracy in metres with which a one-shot request is content before its time is up.
    ///
    /// The two best ones have no limit of their own in the field; ten metres is what an ordinary
    /// receiver reaches, and a poorer fix is delivered when the time is up.
    public var satisfactionMetres: Double {
        switch self {
        case .bestForNavigation, .best, .tenMeters: 10
        case .hundredMeters: 100
        case .kilometer: 1000
        case .threeKilometers: 3000
        case .reduced: .infinity
        }
    }

    /// The best word that a source of an accuracy in metres deserves.
    public init(sourceMetres: Double) {
        self =
            switch sourceMetres {
            case ...10: .best
            case ...100: .hundredMeters
            case ...1000: .kilometer
            case ...3000: .threeKilometers
            default: .reduced
            }
    }
}

/// Why no location can be given, in the words of `LocationFailed`.
public enum LocationFailure: String, Hashable, Sendable {
    /// The program may not know.
    case denied
    /// No source knows at the moment; updates go on by themselves when one does.
    case locationUnknown = "location-unknown"
}

/// The names of the errors of the service's own door.
public enum WireError {
    /// The person or the administrator does not allow the program to know.
    public static let denied = name("Denied")
    /// The administrator has ruled the program out, and no person can change that.
    public static let restricted = name("Restricted")
    /// Nobody has decided yet whether the program may know.
    public static let notDetermined = name("NotDetermined")
    /// No source knew in time.
    public static let locationUnknown = name("LocationUnknown")
    /// The connection has another request or continuous updates under way.
    public static let busy = name("Busy")
    /// The request was replaced by continuous updates, or its session was closed.
    public static let cancelled = name("Cancelled")
    /// The connection has as many sessions as one may have.
    public static let limitExceeded = name("LimitExceeded")
    /// An argument is none of the documented ones.
    public static let invalidArguments = name("InvalidArguments")

    private static func name(_ word: String) -> ErrorName {
        ErrorName(unchecked: "org.waymark.Location1.Error.\(word)")
    }
}
