// SPDX-License-Identifier: Apache-2.0

/// The characters that have a meaning in a sentence.
extension UInt8 {
    static let lineFeed = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")
    static let dollar = UInt8(ascii: "$")
    static let hash = UInt8(ascii: "#")
    static let star = UInt8(ascii: "*")
    static let comma = UInt8(ascii: ",")
    static let period = UInt8(ascii: ".")
    static let plus = UInt8(ascii: "+")
    static let minus = UInt8(ascii: "-")

    /// Whether the byte may stand in a sentence: printable ASCII but `$`, which begins one.
    @inline(__always) var isSentenceText: Bool {
        self &- 0x20 < 0x5F && self != .dollar
    }

    /// Whether the byte may stand in the address of a sentence: a capital or a digit.
    @inline(__always) var isAddressCharacter: Bool {
        self &- UInt8(ascii: "A") < 26 || self &- UInt8(ascii: "0") < 10
    }

    /// The value of a decimal digit.
    @inline(__always) var digitValue: UInt8? {
        let value = self &- UInt8(ascii: "0")
        return value < 10 ? value : nil
    }

    /// The value of a hexadecimal digit of either case.
    var hexDigitValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
