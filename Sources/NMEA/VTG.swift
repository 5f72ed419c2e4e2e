// SPDX-License-Identifier: Apache-2.0

/// A VTG sentence: speed and course, without a time.
///
/// A number counts only with the letter of its unit behind it. Where a decimal comma has moved
/// the fields the letters are elsewhere, so nothing is misread.
public struct VTG: Hashable, Sendable {
    /// How the receiver came to these; `nil` if it does not say.
    public var quality: Quality?

    /// Speed over ground in metres a second.
    public var speed: Double?

    /// Course over ground in degrees clockwise from true north, 0 ..< 360.
    public var course: Double?

    /// Reads the fields, or makes `nil` of a sentence that is to be refused.
    init?(_ line: Span<UInt8>, _ frame: Frame) {
        guard (6...9).contains(frame.fieldCount) else { return nil }
        let mode = frame.field(9)
        if !mode.isEmpty {
            guard let letter = line.letter(mode), let quality = Quality(mode: letter) else {
                return nil
            }
            self.quality = quality
        }
        guard quality != .invalid else { return }
        func value(_ number: Int, _ unit: UInt8) -> Double? {
            guard line.letter(frame.field(number + 1)) == unit else { return nil }
            return line.unsigned(frame.field(number))
        }
        if let knots = value(5, UInt8(ascii: "N")) {
            speed = knots * RMC.knot
        } else if let kilometres = value(7, UInt8(ascii: "K")) {
            speed = kilometres / 3.6
        }
        if let degrees = value(1, UInt8(ascii: "T")), degrees <= 360 {
            course = degrees == 360 ? 0 : degrees
        }
    }
}
