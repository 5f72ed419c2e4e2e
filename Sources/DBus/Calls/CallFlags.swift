// SPDX-License-Identifier: Apache-2.0

/// What the peer and the bus may do for a call (message flags of the specification).
public struct CallFlags: OptionSet, Hashable, Sendable {
    /// The bits; not those of the wire.
    public let rawValue: UInt8

    /// Makes a set from its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The caller is ready to wait while the person is asked for permission
    /// (`ALLOW_INTERACTIVE_AUTHORIZATION`); give such a call a long time-out, or none.
    public static let interactiveAuthorization = CallFlags(rawValue: 1)

    /// A service that is not running is not started for it (`NO_AUTO_START`).
    public static let noActivation = CallFlags(rawValue: 2)
}
