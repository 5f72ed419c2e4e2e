// SPDX-License-Identifier: Apache-2.0

/// What is where in the bytes of a valid message, found by walking them as the specification lays
/// them out, without libdbus.
package struct WireMap: Sendable {
    /// Bytes that belong together.
    package struct Place: Sendable {
        package var offset: Int
        package var size: Int
        package var kind: Kind
    }

    package enum Kind: Sendable {
        case number, boolean, text, path, signature
        /// How many bytes an array or a text has.
        case length
        /// How many bytes a signature has.
        case shortLength
        /// What a variant holds.
        case variantType
    }

    /// All places of the header, which come first, and of the body.
    package private(set) var places: [Place] = []

    /// Where in the places those of the body begin.
    package private(set) var bodyPlaces = 0

    /// Where there are lengths.
    package private(set) var lengths: [Place] = []

    /// Where there are letters that stand for types.
    package private(set) var types: [Place] = []

    /// Where in the bytes the body begins.
    package private(set) var bodyOffset = 0

    /// Whether there is a descriptor among the types.
    package private(set) var hasDescriptors = false

    private var offset = 0
    private var isBigEndian = false

    /// Walks a message's bytes, which must be valid.
    package init(of bytes: [UInt8]) {
        isBigEndian = bytes[0] == UInt8(ascii: "B")
        let signature = walkHeader(bytes)
        bodyPlaces = places.count
        bodyOffset = offset
        walk(bytes[signature], bytes)
    }

    /// Walks the header and tells where in it the body's signature is.
    private mutating func walkHeader(_ bytes: [UInt8]) -> Range<Int> {
        walk(Array("yyyyuu".utf8)[...], bytes)
        var signature = 0..<0
        let size = number(bytes)
        let end = offset + size
        while offset < end {
            align(8)
            let field = bytes[offset]
            walk(Array("yv".utf8)[...], bytes)
            if field == 8, let last = places.last {
                signature = last.offset..<last.offset + last.size
            }
        }
        align(8)
        return signature
    }

    private mutating func align(_ boundary: Int) {
        offset = (offset + boundary - 1) / boundary * boundary
    }

    /// Walks values of some types.
    private mutating func walk(_ types: ArraySlice<UInt8>, _ bytes: [UInt8]) {
        var rest = types
        while !rest.isEmpty {
            let first = rest.prefix(Self.lengthOfFirst(rest))
            walkOne(first, bytes)
            rest = rest.dropFirst(first.count)
        }
    }

    private mutating func walkOne(_ type: ArraySlice<UInt8>, _ bytes: [UInt8]) {
        switch type.first.map({ Character(UnicodeScalar($0)) }) {
        case "y": add(1, .number)
        case "n", "q": add(2, .number)
        case "i", "u": add(4, .number)
        case "x", "t", "d": add(8, .number)
        case "b": add(4, .boolean)
        case "h":
            hasDescriptors = true
            add(4, .number)
        case "s": text(.text, bytes)
        case "o": text(.path, bytes)
        case "g": _ = signature(.signature, bytes)
        case "v":
            let content = signature(.variantType, bytes)
            walk(bytes[content], bytes)
        case "a": array(of: type.dropFirst(), bytes)
        case "(", "{":
            align(8)
            walk(type.dropFirst().dropLast(), bytes)
        default: preconditionFailure("these are not the bytes of a message")
        }
    }

    private mutating func array(of element: ArraySlice<UInt8>, _ bytes: [UInt8]) {
        let size = number(bytes)
        align(Self.alignment(of: element))
        let end = offset + size
        while offset < end { walkOne(element, bytes) }
    }

    private mutating func text(_ kind: Kind, _ bytes: [UInt8]) {
        let size = number(bytes)
        add(size, kind)
        offset += 1
    }

    private mutating func signature(_ kind: Kind, _ bytes: [UInt8]) -> Range<Int> {
        let size = Int(bytes[offset])
        add(1, .shortLength)
        let start = offset
        add(size, kind)
        offset += 1
        return start..<start + size
    }

    /// Walks over a length and tells it.
    private mutating func number(_ bytes: [UInt8]) -> Int {
        align(4)
        let digits = bytes[offset..<offset + 4]
        add(4, .length)
        let ordered = isBigEndian ? Array(digits) : digits.reversed()
        return ordered.reduce(0) { $0 << 8 | Int($1) }
    }

    private mutating func add(_ size: Int, _ kind: Kind) {
        switch kind {
        case .number, .boolean, .length: align(size)
        default: break
        }
        let place = Place(offset: offset, size: size, kind: kind)
        places.append(place)
        switch kind {
        case .length, .shortLength: lengths.append(place)
        case .signature, .variantType: if size > 0 { types.append(place) }
        default: break
        }
        offset += size
    }

    private static func alignment(of type: ArraySlice<UInt8>) -> Int {
        switch type.first.map({ Character(UnicodeScalar($0)) }) {
        case "n", "q": 2
        case "b", "i", "u", "h", "s", "o", "a": 4
        case "x", "t", "d", "(", "{": 8
        default: 1
        }
    }

    /// How many letters the first complete type has.
    private static func lengthOfFirst(_ types: ArraySlice<UInt8>) -> Int {
        var (depth, length) = (0, 0)
        for letter in types {
            length += 1
            switch letter {
            case UInt8(ascii: "a"): continue
            case UInt8(ascii: "("), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: ")"), UInt8(ascii: "}"): depth -= 1
            default: break
            }
            if depth == 0 { break }
        }
        return length
    }
}

extension WireMap {
    /// The same message in the other order of bytes, whose map is the same.
    package func swapped(_ bytes: [UInt8]) -> [UInt8] {
        var swapped = bytes
        swapped[0] = bytes[0] == UInt8(ascii: "l") ? UInt8(ascii: "B") : UInt8(ascii: "l")
        for place in places where place.size > 1 {
            switch place.kind {
            case .number, .boolean, .length:
                let range = place.offset..<place.offset + place.size
                swapped.replaceSubrange(range, with: bytes[range].reversed())
            default: break
            }
        }
        return swapped
    }
}
