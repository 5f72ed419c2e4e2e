// SPDX-License-Identifier: Apache-2.0

/// How a receiver came to a position: GGA's quality indicator, RMC's mode indicator.
public enum Quality: UInt8, Hashable, Sendable {
    /// There is no position.
    case invalid = 0
    /// Satellites alone.
    case autonomous = 1
    /// Satellites with corrections: DGPS, or SBAS such as EGNOS and WAAS.
    case differential = 2
    /// The precise service, without degradation.
    case precise = 3
    /// Real-time kinematic with whole wavelengths resolved.
    case fixedRTK = 4
    /// Real-time kinematic, wavelengths not resolved.
    case floatRTK = 5
    /// Dead reckoning: carried on by wheel, compass or guess since the satellites were lost.
    case estimated = 6
    /// A position that somebody typed in.
    case manual = 7
    /// A simulator's position.
    case simulated = 8

    /// Makes a quality from the digit of GGA.
    init?(indicator: UInt8) {
        guard let digit = indicator.digitValue else { return nil }
        self.init(rawValue: digit)
    }

    /// Makes a quality from the letter of RMC.
    init?(mode: UInt8) {
        switch mode {
        case UInt8(ascii: "N"): self = .invalid
        case UInt8(ascii: "A"): self = .autonomous
        case UInt8(ascii: "D"): self = .differential
        case UInt8(ascii: "P"): self = .precise
        case UInt8(ascii: "R"): self = .fixedRTK
        case UInt8(ascii: "F"): self = .floatRTK
        case UInt8(ascii: "E"): self = .estimated
        case UInt8(ascii: "M"): self = .manual
        case UInt8(ascii: "S"): self = .simulated
        default: return nil
        }
    }
}

extension Quality {
    /// The one of two with the larger error.
    func poorer(_ other: Quality) -> Quality {
        ErrorModel.rangeError(self) < ErrorModel.rangeError(other) ? other : self
    }
}
