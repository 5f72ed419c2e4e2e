// SPDX-License-Identifier: Apache-2.0

/// The types of sentences that are read; all others are skipped.
enum SentenceType {
    case gga
    case rmc
    case gns
    case gll
    case vtg
    case gsa
    case gsv
    case gst
    case gbs
    case zda
    case hdt
    case hdm
    case hdg
    case ths
    case vhw

    /// Reads an address: two letters of any talker and three of the type.
    ///
    /// What begins with `P` is a maker's own, even if it goes on like Garmin's `$PGRMC`.
    init?(_ line: Span<UInt8>, address: Range<Int>) {
        guard address == 0..<5, line[0] != UInt8(ascii: "P") else { return nil }
        let letters = UInt32(line[2]) << 16 | UInt32(line[3]) << 8 | UInt32(line[4])
        // The letters' codes, three to a number.
        switch letters {
        case 0x47_47_41: self = .gga
        case 0x52_4D_43: self = .rmc
        case 0x47_4E_53: self = .gns
        case 0x47_4C_4C: self = .gll
        case 0x56_54_47: self = .vtg
        case 0x47_53_41: self = .gsa
        case 0x47_53_56: self = .gsv
        case 0x47_53_54: self = .gst
        case 0x47_42_53: self = .gbs
        case 0x5A_44_41: self = .zda
        case 0x48_44_54: self = .hdt
        case 0x48_44_4D: self = .hdm
        case 0x48_44_47: self = .hdg
        case 0x54_48_53: self = .ths
        case 0x56_48_57: self = .vhw
        default: return nil
        }
    }
}
