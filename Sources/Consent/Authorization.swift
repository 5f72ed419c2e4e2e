// SPDX-License-Identifier: Apache-2.0

/// Whether a program may know where the device is, in the words that programs are told.
public enum AuthorizationStatus: String, CaseIterable, Hashable, Sendable {
    /// Nobody has decided yet.
    case notDetermined = "not-determined"
    /// The administrator has ruled it out, and no person can change that.
    case restricted
    /// No.
    case denied
    /// Yes, while the program is in use.
    case whenInUse = "when-in-use"
    /// Yes.
    case always

    /// Whether a program with this status is told locations.
    public var permitsLocations: Bool { self == .whenInUse || self == .always }
}

/// How exactly a program may know where the device is.
public enum AccuracyAuthorization: String, CaseIterable, Hashable, Sendable {
    /// As exactly as the sources do.
    case full
    /// As the centre of a cell of some kilometres.
    case reduced
}

/// What a program may know.
public struct Authorization: Hashable, Sendable {
    /// Whether it may know.
    public var status: AuthorizationStatus
    /// How exactly, if it may.
    public var accuracy: AccuracyAuthorization

    /// Makes an authorization.
    public init(_ status: AuthorizationStatus, accuracy: AccuracyAuthorization = .full) {
        self.status = status
        self.accuracy = accuracy
    }

    /// Whether it lets a program know less than another one does.
    func isStricter(than other: Authorization) -> Bool {
        let order: [AuthorizationStatus] = [
            .restricted, .denied, .notDetermined, .whenInUse, .always,
        ]
        let ranks = (order.firstIndex(of: status) ?? 0, order.firstIndex(of: other.status) ?? 0)
        return ranks.0 != ranks.1 ? ranks.0 < ranks.1 : accuracy == .reduced
    }

    /// What holds for a program about which nobody has decided.
    public static let notDetermined = Authorization(.notDetermined)
}
