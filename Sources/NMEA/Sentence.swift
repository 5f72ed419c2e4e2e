// SPDX-License-Identifier: Apache-2.0

/// A checked sentence that has a part in a fix.
///
/// The talker (`GP`, `GN`, `GL`, …) is of no interest: all are the same receiver.
public enum Sentence: Hashable, Sendable {
    /// Position, altitude and quality.
    case gga(GGA)
    /// Position, date, speed and course.
    case rmc(RMC)
    /// Date and time.
    case zda(ZDA)

    /// The time of day in UTC, in microseconds; what stands in one epoch has the same.
    public var timeOfDay: Int64? {
        switch self {
        case .gga(let sentence): sentence.timeOfDay
        case .rmc(let sentence): sentence.timeOfDay
        case .zda(let sentence): sentence.timeOfDay
        }
    }

    /// Reads the fields of a sentence, or makes `nil` of one of another type.
    ///
    /// - Parameters:
    ///   - line: The sentence after its `$` and before the line's end.
    ///   - frame: Its frame.
    /// - Throws: ``Rejection/impossible`` if the fields cannot be meant.
    init?(_ line: Span<UInt8>, _ frame: Frame) throws(Rejection) {
        guard let type = SentenceType(line, address: frame.field(0)) else { return nil }
        let sentence: Sentence? =
            switch type {
            case .gga: GGA(line, frame).map(Sentence.gga)
            case .rmc: RMC(line, frame).map(Sentence.rmc)
            case .zda: ZDA(line, frame).map(Sentence.zda)
            }
        guard let sentence else { throw .impossible }
        self = sentence
    }
}

/// The types of sentences that are read; all others are skipped.
private enum SentenceType {
    case gga
    case rmc
    case zda

    /// Reads an address: two letters of any talker and three of the type.
    ///
    /// What begins with `P` is a maker's own, even if it goes on like Garmin's `$PGRMC`.
    init?(_ line: Span<UInt8>, address: Range<Int>) {
        guard address == 0..<5, line[0] != UInt8(ascii: "P") else { return nil }
        switch (line[2], line[3], line[4]) {
        case (UInt8(ascii: "G"), UInt8(ascii: "G"), UInt8(ascii: "A")): self = .gga
        case (UInt8(ascii: "R"), UInt8(ascii: "M"), UInt8(ascii: "C")): self = .rmc
        case (UInt8(ascii: "Z"), UInt8(ascii: "D"), UInt8(ascii: "A")): self = .zda
        default: return nil
        }
    }
}
