// SPDX-License-Identifier: Apache-2.0

public import Geo

/// A GSA sentence: which satellites have a part in the fix, and the dilutions of precision.
///
/// A receiver of several systems sends one for each of them, all with the same dilutions. The
/// standard has room for 12 satellites; some receivers have 24, and from version 4.1 on the
/// number of the system comes last.
public struct GSA: Hashable, Sendable {
    /// Whether the fix has an altitude; `nil` if there is none or the number is not known.
    public var mode: Fix.Mode?

    /// Whether the receiver says that these satellites make no fix.
    ///
    /// Another system's may: this takes back nothing of what GGA or RMC say.
    public var hasNoFix: Bool

    /// How many satellites of this system are in use.
    public var satellites: Int

    /// The position dilution of precision as printed, 0 or more.
    public var pdop: Double?

    /// The horizontal dilution of precision as printed, 0 or more.
    public var hdop: Double?

    /// The vertical dilution of precision as printed, 0 or more.
    public var vdop: Double?

    /// Reads the fields, or makes `nil` of a sentence that is to be refused.
    ///
    /// Decimal commas show in a number of fields that none of the forms has, or in a dilution
    /// where the system is.
    init?(_ line: Span<UInt8>, _ frame: Frame) {
        guard frame.fieldCount >= 2, frame.field(1).count <= 1 else { return nil }
        let slots: Int
        switch frame.fieldCount {
        case ..<17: slots = 0
        case 17, 18: slots = 12
        case 29, 30: slots = 24
        default: return nil
        }
        let system = frame.field(slots + 6)
        guard system.isEmpty || line.letter(system)?.hexDigitValue != nil else { return nil }
        let digit = line.letter(frame.field(2))
        mode =
            switch digit {
            case UInt8(ascii: "2"): .twoDimensional
            case UInt8(ascii: "3"): .threeDimensional
            default: nil
            }
        hasNoFix = digit == UInt8(ascii: "1")
        satellites = 0
        guard slots > 0 else { return }
        for number in 3..<3 + slots where !frame.field(number).isEmpty { satellites += 1 }
        pdop = line.unsigned(frame.field(slots + 3))
        hdop = line.unsigned(frame.field(slots + 4))
        vdop = line.unsigned(frame.field(slots + 5))
    }
}
