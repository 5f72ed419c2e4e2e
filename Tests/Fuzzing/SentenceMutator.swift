// SPDX-License-Identifier: Apache-2.0

/// Puts lines together to streams, and damages them.
struct SentenceMutator {
    var random: SplitMix64

    /// What has come out of receivers and relays where a number belongs.
    private static let fields: [[UInt8]] = [
        "", "0", "-0", "-1", "00", ".", "-", "+5", "nan", "inf", "0x10", "1e999", "5.2E-5", "9,5",
        "99.99", "9999.0", "1.", ".5", "A", "V", "N", "M", "240000", "235960.999999", "000000",
        "310224", "060180", "220899", "9000.0000", "18000.0000", "4860.0", "0000.0000",
        "123456789012345678901234567890", "0.00000000000000000000000000001",
    ].map { Array($0.utf8) }

    private static let bytes: [UInt8] = Array("$*,.+-\r\n#09ANSEWVM\u{7F}".utf8) + [0, 0x80, 0xFF]

    private static let ends: [[UInt8]] = ["\r\n", "\n", "\r", "", "\n\r", "\r\n\r\n"]
        .map { Array($0.utf8) }

    init(_ random: SplitMix64) { self.random = random }

    /// A stream of a few lines.
    ///
    /// Half of them follow each other in the corpus, so that there are epochs.
    mutating func stream(_ lines: [[UInt8]]) -> [UInt8] {
        var stream: [UInt8] = []
        var index = random.below(lines.count)
        for _ in 0...random.below(8) {
            var line = lines[index]
            for _ in 0..<random.below(3) { change(&line, lines) }
            if !random.oneIn(4) { seal(&line) }
            stream += line
            stream += random.oneIn(4) ? random.pick(Self.ends) : Self.ends[0]
            index = random.oneIn(4) ? random.below(lines.count) : (index + 1) % lines.count
        }
        return stream
    }

    private mutating func change(_ line: inout [UInt8], _ others: [[UInt8]]) {
        guard !line.isEmpty else { return }
        let place = random.below(line.count)
        switch random.below(9) {
        case 0: line[place] = random.pick(Self.bytes)
        case 1: line.insert(random.pick(Self.bytes), at: place)
        case 2: line.remove(at: place)
        case 3: line.removeLast(place)
        case 4: line.append(contentsOf: random.pick(others).suffix(place))
        case 5: line.insert(contentsOf: line.suffix(place), at: place)
        case 6: line[place] ^= 1 << UInt8(random.below(8))
        default: changeField(&line)
        }
    }

    private mutating func changeField(_ line: inout [UInt8]) {
        var fields = line.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            .map(Array.init)
        let place = random.below(fields.count)
        switch random.below(4) {
        case 0: fields.swapAt(place, random.below(fields.count))
        case 1: fields.remove(at: place)
        case 2: fields.insert(random.pick(Self.fields), at: place)
        default: fields[place] = random.pick(Self.fields)
        }
        line = Array(fields.joined(separator: [UInt8(ascii: ",")]))
    }

    /// Puts a checksum right, so that what stands in the fields is looked at.
    private func seal(_ line: inout [UInt8]) {
        guard let dollar = line.lastIndex(of: UInt8(ascii: "$")) else { return }
        let end = line.lastIndex(of: UInt8(ascii: "*")) ?? line.endIndex
        guard dollar < end else { return }
        line.removeSubrange(end...)
        let sum = line[(dollar + 1)...].reduce(0, ^)
        let digits = Array("0123456789ABCDEF".utf8)
        line += [UInt8(ascii: "*"), digits[Int(sum >> 4)], digits[Int(sum & 15)]]
    }
}
