// SPDX-License-Identifier: Apache-2.0

import Geo
import NMEA

/// A sentence with its checksum and line end.
func line(_ body: String) -> String {
    let sum = body.utf8.reduce(0, ^)
    let digits = String(sum, radix: 16, uppercase: true)
    return "$" + body + "*" + (digits.utf8.count == 1 ? "0" : "") + digits + "\r\n"
}

/// The sentences of a text.
func sentences(_ text: String, requiresChecksum: Bool = true) -> [Sentence] {
    var reader = SentenceReader(requiresChecksum: requiresChecksum)
    var result: [Sentence] = []
    reader.append(Array(text.utf8)) { result.append($0) }
    reader.endLine { result.append($0) }
    return result
}

/// The counts after a text.
func statistics(
    _ text: String,
    requiresChecksum: Bool = true
) -> SentenceReader.Statistics {
    var reader = SentenceReader(requiresChecksum: requiresChecksum)
    reader.append(Array(text.utf8)) { _ in }
    reader.endLine { _ in }
    return reader.statistics
}

/// The only sentence of a body without checksum, if it is a GGA.
func gga(_ body: String) -> GGA? {
    let all = sentences(line(body))
    guard all.count == 1, case .gga(let sentence) = all[0] else { return nil }
    return sentence
}

/// The only sentence of a body without checksum, if it is an RMC.
func rmc(_ body: String) -> RMC? {
    let all = sentences(line(body))
    guard all.count == 1, case .rmc(let sentence) = all[0] else { return nil }
    return sentence
}

/// A reader and an assembler, as the owner of a receiver has them.
struct Receiver {
    var reader: SentenceReader
    var assembler = FixAssembler()
    var now = Timestamp(microseconds: 1_750_000_000_000_000)

    init(requiresChecksum: Bool = true) {
        reader = SentenceReader(requiresChecksum: requiresChecksum)
    }

    /// The fixes that come out right with these bytes.
    mutating func feed(_ bytes: ArraySlice<UInt8>) -> [Fix] {
        var heard: [Sentence] = []
        reader.append(bytes) { heard.append($0) }
        return add(heard)
    }

    /// The fixes that come out right with this text.
    mutating func feed(_ text: String) -> [Fix] {
        feed(Array(text.utf8)[...])
    }

    /// The fixes that come out at the end of the stream.
    mutating func finish() -> [Fix] {
        var heard: [Sentence] = []
        reader.endLine { heard.append($0) }
        return add(heard) + [assembler.flush()].compactMap(\.self)
    }

    private mutating func add(_ heard: [Sentence]) -> [Fix] {
        var fixes: [Fix] = []
        for sentence in heard {
            assembler.add(sentence, arrivedAt: now) { fixes.append($0) }
        }
        return fixes
    }
}

/// All fixes of a stream.
func fixes(_ text: String, requiresChecksum: Bool = true) -> [Fix] {
    fixes(Array(text.utf8), requiresChecksum: requiresChecksum)
}

/// All fixes of a stream.
func fixes(_ bytes: [UInt8], requiresChecksum: Bool = true) -> [Fix] {
    var receiver = Receiver(requiresChecksum: requiresChecksum)
    return receiver.feed(bytes[...]) + receiver.finish()
}

/// Random numbers that are the same in every run.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
