// SPDX-License-Identifier: Apache-2.0

/// Changes to the bytes of a message: ones that keep it valid, and ones that need not.
package struct Mutator: Sendable {
    package var random: SplitMix64

    package init(_ random: SplitMix64) { self.random = random }

    /// Gives some values of the body others of the same type and size.
    package mutating func changeValues(_ bytes: inout [UInt8], _ map: WireMap) {
        let count = map.places.count - map.bodyPlaces
        guard count > 0 else { return }
        for _ in 0..<1 + random.below(4) {
            change(map.places[map.bodyPlaces + random.below(count)], &bytes)
        }
    }

    private mutating func change(_ place: WireMap.Place, _ bytes: inout [UInt8]) {
        guard place.size > 0 else { return }
        let any = place.offset + random.below(place.size)
        switch place.kind {
        case .number where random.oneIn(4):
            let byte: UInt8 = random.pick([0, 0xff])
            for offset in place.offset..<place.offset + place.size { bytes[offset] = byte }
        case .number: bytes[any] = UInt8(truncatingIfNeeded: random.next())
        case .boolean:
            bytes[bytes[0] == UInt8(ascii: "l") ? place.offset : place.offset + 3] ^= 1
        case .text where bytes[any] < 0x80: bytes[any] = UInt8(1 + random.below(0x7f))
        case .path where bytes[any] != UInt8(ascii: "/"):
            bytes[any] = random.pick(Array("azAZ09_".utf8))
        case .signature where Self.basicLetters.contains(bytes[any]):
            bytes[any] = random.pick(Self.basicLetters)
        default: break
        }
    }

    private static let basicLetters = Array("ybnqiuxtdsog".utf8)
}

// MARK: Changes that need not keep a message valid

extension Mutator {
    /// Changes bytes anywhere, also their number.
    ///
    /// - Parameters:
    ///   - bytes: The message.
    ///   - map: What is where in it.
    ///   - other: Another message, of which pieces may be taken.
    package mutating func changeStructure(
        _ bytes: inout [UInt8],
        _ map: WireMap,
        other: [UInt8]
    ) {
        // Half of the time the header is left alone, which is small and soon no header any more.
        let start = random.oneIn(2) && map.bodyOffset < bytes.count ? map.bodyOffset : 0
        for _ in 0..<1 + random.below(3) {
            guard start < bytes.count else { break }
            let at = start + random.below(bytes.count - start)
            switch random.below(7) {
            case 0, 1: bytes[at] ^= 1 << UInt8(random.below(8))
            case 2: bytes[at] = UInt8(truncatingIfNeeded: random.next())
            case 3: changeType(&bytes, map)
            case 4: changeLength(&bytes, map)
            case 5: resize(&bytes, at: at, other: other, bodyOffset: map.bodyOffset)
            default:
                let piece = piece(of: other, atMost: bytes.count - at)
                bytes.replaceSubrange(at..<at + piece.count, with: piece)
            }
        }
    }

    /// Puts another letter where types stand, mostly one of a value that is as large.
    private mutating func changeType(_ bytes: inout [UInt8], _ map: WireMap) {
        guard !map.types.isEmpty else { return }
        let place = random.pick(map.types)
        let at = place.offset + random.below(place.size)
        guard at < bytes.count else { return }
        let alike = ["nq", "iuhb", "xtd", "so"].first { $0.utf8.contains(bytes[at]) } ?? "yg"
        let letters = random.oneIn(3) ? "ybnqiuxtdsoghva(){}r" : alike
        bytes[at] = random.pick(Array(letters.utf8))
    }

    /// Makes a length a little or very wrong.
    private mutating func changeLength(_ bytes: inout [UInt8], _ map: WireMap) {
        // The body's own length is the first number of the header.
        let place =
            map.lengths.isEmpty || random.oneIn(8) ? map.places[4] : random.pick(map.lengths)
        let last = place.offset + place.size - 1
        guard last < bytes.count else { return }
        if random.oneIn(4) {
            bytes[place.offset + random.below(place.size)] = 0xff
        } else {
            let at = bytes[0] == UInt8(ascii: "B") ? last : place.offset
            bytes[at] &+= random.pick([1, 4, 8, 0xff, 0xfc, 0xf8])
        }
    }

    /// Takes bytes out or puts some in, and mostly makes the body's length right again.
    private mutating func resize(
        _ bytes: inout [UInt8],
        at: Int,
        other: [UInt8],
        bodyOffset: Int
    ) {
        let before = bytes.count
        if random.oneIn(2) {
            let count = min(bytes.count - at, random.pick([1, 2, 4, 8, 16]))
            bytes.removeSubrange(at..<at + count)
        } else {
            bytes.insert(contentsOf: piece(of: other, atMost: 16), at: at)
        }
        guard at >= bodyOffset, before != bytes.count, !random.oneIn(4) else { return }
        var length = UInt32(bytes.count - bodyOffset)
        if bytes[0] == UInt8(ascii: "B") { length = length.byteSwapped }
        withUnsafeBytes(of: length.littleEndian) { bytes.replaceSubrange(4..<8, with: $0) }
    }

    private mutating func piece(of other: [UInt8], atMost limit: Int) -> ArraySlice<UInt8> {
        // Pieces of four bytes and their multiples fit what is aligned.
        let count = min(limit, other.count, random.pick([1, 2, 4, 8, 16, 32]))
        let start = random.below(other.count - count + 1)
        let aligned = random.oneIn(2) ? start : start / 8 * 8
        return other[aligned..<aligned + count]
    }
}
