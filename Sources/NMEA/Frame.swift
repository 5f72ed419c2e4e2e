// SPDX-License-Identifier: Apache-2.0

/// The outer form of a sentence: where its fields lie, and whether its checksum is right.
struct Frame {
    /// How many fields a sentence of interest has at most; more are counted, not recorded.
    static let capacity = 30

    /// The number of fields after the address.
    let fieldCount: Int

    /// Where each field ends: at its comma, the star or the end of the line.
    private let ends: InlineArray<31, UInt8>

    /// Reads the frame of a line.
    ///
    /// - Parameters:
    ///   - line: The sentence after its `$` and before the line's end, under 255 bytes.
    ///   - requiresChecksum: Whether a line without checksum is rejected.
    /// - Throws: The reason if the frame is not good.
    init(_ line: Span<UInt8>, requiresChecksum: Bool) throws(Rejection) {
        var ends = InlineArray<31, UInt8>(repeating: 0)
        var commas = 0
        var sum: UInt8 = 0
        var index = 0
        while index < line.count, line[index] != .star {
            let byte = line[index]
            sum ^= byte
            if byte == .comma {
                if commas <= Self.capacity { ends[commas] = UInt8(truncatingIfNeeded: index) }
                commas += 1
            }
            index += 1
        }
        if commas <= Self.capacity { ends[commas] = UInt8(truncatingIfNeeded: index) }
        fieldCount = commas
        self.ends = ends

        try Self.checkAddress(line, end: Int(ends[0]))
        if index < line.count {
            guard index + 3 == line.count, let high = line[index + 1].hexDigitValue,
                let low = line[index + 2].hexDigitValue
            else { throw .malformed }
            guard high << 4 | low == sum else { throw .wrongChecksum }
        } else if requiresChecksum {
            throw .missingChecksum
        }
    }

    /// The bytes of a field, counted from 1 as the standard does; the address is 0.
    func field(_ number: Int) -> Range<Int> {
        guard number <= min(fieldCount, Self.capacity) else { return 0..<0 }
        let end = Int(ends[number])
        let start = number == 0 ? 0 : Int(ends[number - 1]) + 1
        return start <= end ? start..<end : 0..<0
    }

    private static func checkAddress(_ line: Span<UInt8>, end: Int) throws(Rejection) {
        guard end > 0 else { throw .malformed }
        for index in 0..<end {
            guard line[index].isAddressCharacter else { throw .malformed }
        }
    }
}
