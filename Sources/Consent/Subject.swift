// SPDX-License-Identifier: Apache-2.0

/// Whom a decision is about: a program, as far as the system can prove which one it is, of a user.
public struct Subject: Hashable, Sendable {
    /// How it is known which program it is.
    public enum Kind: String, CaseIterable, Hashable, Sendable {
        /// By the sandbox that Flatpak has put it in.
        case flatpak
        /// By the confinement of snapd.
        case snap
        /// By the unit of the user's service manager that the desktop has started it in.
        case unit
        /// By the unit of the system's service manager.
        case service
        /// By the file that it was started from.
        case exe
        /// Not at all: all such programs of a user are one subject.
        case unknown
    }

    /// The user that the program runs as.
    public let userID: UInt32
    /// How it is known which program it is.
    public let kind: Kind
    /// Which one: the application's id, the unit's name, or the executable's real path.
    public let id: String

    /// Makes a subject.
    public init(userID: UInt32, kind: Kind, id: String) {
        self.userID = userID
        self.kind = kind
        self.id = id
    }
}
