// SPDX-License-Identifier: Apache-2.0

/// Where a vessel's bow points, of HDT, THS, HDM, HDG or VHW: by a compass, not by its motion.
///
/// It is no course over ground, and is never taken for one.
public struct Heading: Hashable, Sendable {
    /// Degrees clockwise from true north, 0 ..< 360.
    public var trueDegrees: Double?

    /// Degrees clockwise from magnetic north, 0 ..< 360, the compass's deviation put right.
    public var magneticDegrees: Double?

    /// Reads the fields, or makes `nil` of a sentence that is to be refused.
    init?(_ line: Span<UInt8>, _ frame: Frame, _ type: SentenceType) {
        switch type {
        case .hdt:
            guard frame.fieldCount == 2 else { return nil }
            trueDegrees = Self.degrees(line, frame, 1, UInt8(ascii: "T"))
        case .hdm:
            guard frame.fieldCount == 2 else { return nil }
            magneticDegrees = Self.degrees(line, frame, 1, UInt8(ascii: "M"))
        case .ths:
            guard frame.fieldCount == 2 else { return nil }
            // Estimated, typed in and simulated headings have other letters, and V is none.
            trueDegrees = Self.degrees(line, frame, 1, UInt8(ascii: "A"))
        case .vhw:
            guard frame.fieldCount == 8 else { return nil }
            trueDegrees = Self.degrees(line, frame, 1, UInt8(ascii: "T"))
            magneticDegrees = Self.degrees(line, frame, 3, UInt8(ascii: "M"))
        default:
            guard frame.fieldCount == 5 else { return nil }
            guard let sensor = line.unsigned(frame.field(1)), sensor <= 360 else { return }
            let deviation = Self.offset(line, frame, 2)
            magneticDegrees = Self.normalized(sensor + (deviation ?? 0))
            if let variation = Self.offset(line, frame, 4) {
                trueDegrees = Self.normalized(sensor + (deviation ?? 0) + variation)
            }
        }
    }

    /// An angle with the letter of its kind behind it.
    private static func degrees(
        _ line: Span<UInt8>,
        _ frame: Frame,
        _ number: Int,
        _ letter: UInt8
    ) -> Double? {
        guard line.letter(frame.field(number + 1)) == letter,
            let degrees = line.unsigned(frame.field(number)), degrees <= 360
        else { return nil }
        return normalized(degrees)
    }

    /// An angle to the east, or with the letter W to the west.
    private static func offset(_ line: Span<UInt8>, _ frame: Frame, _ number: Int) -> Double? {
        guard let degrees = line.unsigned(frame.field(number)), degrees <= 180 else { return nil }
        switch line.letter(frame.field(number + 1)) {
        case UInt8(ascii: "E"): return degrees
        case UInt8(ascii: "W"): return -degrees
        default: return nil
        }
    }

    private static func normalized(_ degrees: Double) -> Double {
        if degrees < 0 { return degrees + 360 }
        return degrees >= 360 ? degrees - 360 : degrees
    }
}
