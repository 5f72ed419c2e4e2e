// SPDX-License-Identifier: Apache-2.0

/// A checked sentence of a positioning receiver.
///
/// The talker (`GP`, `GN`, `GL`, …) is of no interest: all are the same receiver.
public enum Sentence: Hashable, Sendable {
    /// Position, altitude and quality.
    case gga(GGA)
    /// Position, date, speed and course.
    case rmc(RMC)
    /// Position, altitude and quality of several satellite systems.
    case gns(GNS)
    /// Position.
    case gll(GLL)
    /// Speed and course.
    case vtg(VTG)
    /// Satellites in use and dilutions of precision.
    case gsa(GSA)
    /// Satellites in view.
    case gsv(GSV)
    /// Errors of the position.
    case gst(GST)
    /// Expected errors of the position.
    case gbs(GBS)
    /// Date and time.
    case zda(ZDA)
    /// The direction of the bow.
    case heading(Heading)

    /// The time of day in UTC, in microseconds; what stands in one epoch has the same.
    public var timeOfDay: Int64? {
        switch self {
        case .gga(let sentence): sentence.timeOfDay
        case .rmc(let sentence): sentence.timeOfDay
        case .gns(let sentence): sentence.timeOfDay
        case .gll(let sentence): sentence.timeOfDay
        case .gst(let sentence): sentence.timeOfDay
        case .gbs(let sentence): sentence.timeOfDay
        case .zda(let sentence): sentence.timeOfDay
        case .vtg, .gsa, .gsv, .heading: nil
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
            case .gns: GNS(line, frame).map(Sentence.gns)
            case .gll: GLL(line, frame).map(Sentence.gll)
            case .vtg: VTG(line, frame).map(Sentence.vtg)
            case .gsa: GSA(line, frame).map(Sentence.gsa)
            case .gsv: GSV(line, frame).map(Sentence.gsv)
            case .gst: GST(line, frame).map(Sentence.gst)
            case .gbs: GBS(line, frame).map(Sentence.gbs)
            case .zda: ZDA(line, frame).map(Sentence.zda)
            case .hdt, .hdm, .hdg, .ths, .vhw: Heading(line, frame, type).map(Sentence.heading)
            }
        guard let sentence else { throw .impossible }
        self = sentence
    }
}
