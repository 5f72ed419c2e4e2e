// SPDX-License-Identifier: Apache-2.0

import Geo
import NMEA

/// Reads a stream and makes sure of what has to hold of every fix.
package struct NMEACheck: Sendable {
    /// What must not be.
    package struct Finding: Error, CustomStringConvertible {
        package let description: String
    }

    /// What has been read so far.
    package struct Counts: Sendable {
        package var inputs = 0
        package var bytes = 0
        package var sentences = 0
        package var fixes = 0
    }

    package private(set) var counts = Counts()

    private static let arrival = Timestamp(microseconds: 1_750_000_000_000_000)

    /// What became of a stream.
    private struct Outcome: Equatable {
        var sentences: [Sentence] = []
        var fixes: [Fix] = []
        var statistics = SentenceReader.Statistics()
    }

    package init() {}

    /// Reads a stream in one piece and in several, strictly and not.
    package mutating func run(
        _ stream: [UInt8],
        _ random: inout SplitMix64
    ) throws(Finding) {
        for requiresChecksum in [true, false] {
            let whole = read(stream, requiresChecksum) { $0.count }
            let pieces = read(stream, requiresChecksum) { rest in
                1 + random.below(min(rest.count, 40))
            }
            guard whole == pieces else {
                throw finding("cut, it gives \(pieces) instead of \(whole)", stream)
            }
            let places = whole.sentences.count { $0.hasPosition }
            guard whole.fixes.count <= places else {
                throw finding("\(whole.fixes.count) fixes of \(places) positions", stream)
            }
            for fix in whole.fixes {
                if let what = Self.fault(of: fix) { throw finding("\(what): \(fix)", stream) }
            }
            counts.sentences += whole.sentences.count
            counts.fixes += whole.fixes.count
        }
        counts.inputs += 1
        counts.bytes += stream.count
    }

    private func read(
        _ stream: [UInt8],
        _ requiresChecksum: Bool,
        _ length: (ArraySlice<UInt8>) -> Int
    ) -> Outcome {
        var reader = SentenceReader(requiresChecksum: requiresChecksum)
        var assembler = FixAssembler()
        var outcome = Outcome()
        func take(_ sentence: Sentence) {
            outcome.sentences.append(sentence)
            assembler.add(sentence, arrivedAt: Self.arrival) { outcome.fixes.append($0) }
        }
        var rest = stream[...]
        while !rest.isEmpty {
            let piece = rest.prefix(length(rest))
            reader.append(piece, take)
            rest = rest.dropFirst(piece.count)
        }
        reader.endLine(take)
        if let fix = assembler.flush() { outcome.fixes.append(fix) }
        outcome.statistics = reader.statistics
        return outcome
    }

    /// What is wrong with a fix, if anything is.
    private static func fault(of fix: Fix) -> String? {
        func isPositive(_ number: Double?) -> Bool {
            number.map { $0.isFinite && $0 > 0 } ?? true
        }
        func isFinite(_ number: Double?) -> Bool { number?.isFinite ?? true }
        let place = fix.coordinate
        let years = Int64(946_684_800_000_000)...253_402_300_801_000_000
        if !(-90...90).contains(place.latitude) || !(-180...180).contains(place.longitude) {
            return "no place"
        }
        if !isPositive(fix.horizontalAccuracy) || !isPositive(fix.verticalAccuracy) {
            return "no accuracy"
        }
        if !isPositive(fix.hdop) || !isPositive(fix.vdop) || !isPositive(fix.pdop) {
            return "no dilution"
        }
        if (fix.altitude == nil) != (fix.verticalAccuracy == nil) { return "half an altitude" }
        if !isFinite(fix.altitude) || !isFinite(fix.ellipsoidalAltitude) { return "no altitude" }
        if !isFinite(fix.speed) || (fix.speed ?? 0) < 0 { return "no speed" }
        if !(0..<360).contains(fix.course ?? 0) { return "no course" }
        if (fix.satellitesUsed ?? 0) < 0 { return "no number of satellites" }
        if fix.timestamp != arrival, !years.contains(fix.timestamp.microseconds) {
            return "no time"
        }
        return nil
    }

    private func finding(_ what: String, _ stream: [UInt8]) -> Finding {
        let digits = stream.map { String($0, radix: 16) }.joined(separator: " ")
        let text = String(decoding: stream, as: UTF8.self)
        return Finding(description: "\(what)\nfor \(text.debugDescription), the bytes \(digits)")
    }
}

extension Sentence {
    fileprivate var hasPosition: Bool {
        switch self {
        case .gga(let sentence): sentence.coordinate != nil
        case .rmc(let sentence): sentence.coordinate != nil
        case .gns(let sentence): sentence.coordinate != nil
        case .gll(let sentence): sentence.coordinate != nil
        default: false
        }
    }
}
