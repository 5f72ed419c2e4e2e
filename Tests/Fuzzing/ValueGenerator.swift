// SPDX-License-Identifier: Apache-2.0

package import DBus

/// Random values of random types, with a liking for the edges of what can be.
package struct ValueGenerator: Sendable {
    package var types: TypeGenerator

    /// Whether a dictionary has each key once, as programs need whose dictionaries are tables.
    package var hasUniqueKeys = false

    /// Whether there are texts of many thousand letters now and then.
    package var hasLongTexts = true

    /// How many more values the message is to have, about.
    package var budget = 0

    /// Whether every array and dictionary has one element, so that the innermost types occur.
    private var isNarrow = false

    package init(seed: UInt64) {
        types = TypeGenerator(SplitMix64(seed: seed))
    }

    /// The arguments of one message.
    ///
    /// - Parameter size: How many values there are in all of them, about.
    /// - Returns: The arguments, in types that may stand in one message.
    package mutating func arguments(size: Int) -> [Value] {
        budget = size
        isNarrow = random.oneIn(12)
        guard !isNarrow else { return [value(of: types.deep(), in: Room())] }
        return types.arguments().map { value(of: $0, in: Room()) }
    }

    /// A value of a type.
    package mutating func value(of type: ValueType, in room: Room) -> Value {
        budget -= 1
        switch type {
        case .basic(let letter): return basic(letter)
        case .array(let element):
            let values = (0..<count(of: element)).map { _ in value(of: element, in: room.inArray) }
            return .array(of: Signature(unchecked: element.signature), values)
        case .structure(let members):
            return .structure(members.map { value(of: $0, in: room.inStructure) })
        case .dictionary(let key, let content):
            return dictionary(key, content, in: room)
        case .variant:
            let depth = budget > 0 ? random.below(4) : 0
            let content = types.type(in: room.inVariant, depth: depth)
            return .variant(value(of: content, in: room.inVariant))
        }
    }

    private var random: SplitMix64 {
        get { types.random }
        set { types.random = newValue }
    }

    private mutating func count(of element: ValueType) -> Int {
        guard !isNarrow else { return 1 }
        guard budget > 0, !random.oneIn(5) else { return 0 }
        if case .basic = element, random.oneIn(4) { return min(budget, random.below(40)) }
        return random.oneIn(2) ? 1 : min(budget, 1 + random.below(4))
    }

    private mutating func dictionary(
        _ key: Character,
        _ content: ValueType,
        in room: Room
    ) -> Value {
        var keys: Set<[UInt8]> = []
        var entries: [Value.Entry] = []
        for _ in 0..<count(of: content) {
            let key = basic(key)
            if hasUniqueKeys, !keys.insert(Self.identity(of: key)).inserted { continue }
            let value = value(of: content, in: room.inDictionary)
            entries.append(Value.Entry(key: key, value: value))
        }
        return .dictionary(
            key: Signature(unchecked: String(key)),
            value: Signature(unchecked: content.signature),
            entries
        )
    }

    /// What tells a key from others in Python: the two zeros are one there.
    private static func identity(of key: Value) -> [UInt8] {
        if case .double(0) = key { return [0] }
        return Array("\(key)".utf8)
    }
}

// MARK: Basic values

extension ValueGenerator {
    private mutating func basic(_ letter: Character) -> Value {
        switch letter {
        case "y": .byte(number())
        case "b": .bool(random.oneIn(2))
        case "n": .int16(number())
        case "q": .uint16(number())
        case "i": .int32(number())
        case "u": .uint32(number())
        case "x": .int64(number())
        case "t": .uint64(number())
        case "d": .double(double())
        case "o": .objectPath(path())
        case "g": .signature(signature())
        default: .string(text())
        }
    }

    package mutating func number<Number: FixedWidthInteger>() -> Number {
        switch random.below(6) {
        case 0: .min
        case 1: .max
        case 2: Number(truncatingIfNeeded: random.below(3) - 1)
        default: Number(truncatingIfNeeded: random.next())
        }
    }

    package mutating func double() -> Double {
        switch random.below(12) {
        case 0: -0.0
        case 1: 0
        case 2: .infinity
        case 3: -.infinity
        case 4: .nan
        case 5: -Double(nan: 0x1234, signaling: false)
        case 6: .leastNonzeroMagnitude
        case 7: -.greatestFiniteMagnitude
        case 8: Double(number() as Int32) / 16
        default: Double(bitPattern: random.next())
        }
    }

    /// A text of one of many lengths, so that what follows it begins at any place.
    package mutating func text() -> String {
        let pieces = [
            "a", "b", "z", " ", "'", "\"", "\\", "\n", "\u{1}", "\u{7f}", "ß", "e\u{301}", "é", "語",
            "🛰", "👩‍👩‍👧", "\u{feff}", "\u{fffe}", "\u{ffff}", "\u{d7ff}", "\u{e000}", "\u{10ffff}",
        ]
        var count = random.below(10)
        if random.oneIn(40) { count = random.pick([127, 128, 255, 256, 257, 4095, 4096]) }
        if hasLongTexts, random.oneIn(400) { count = 20_000 + random.below(20_000) }
        if random.oneIn(2) { return String(repeating: random.pick(pieces), count: count) }
        return (0..<count).map { _ in random.pick(pieces) }.joined()
    }

    private mutating func path() -> ObjectPath {
        let steps = ["a", "_", "0", "org", "example", "Thing_42", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"]
        let count = random.oneIn(30) ? 60 : random.below(5)
        let path = (0..<count).map { _ in "/" + random.pick(steps) }.joined()
        return ObjectPath(unchecked: path.isEmpty ? "/" : path)
    }

    private mutating func signature() -> Signature {
        if random.oneIn(30) { return Signature(unchecked: types.deep().signature) }
        let letters = (0..<random.below(4)).map { _ in types.type(in: Room(), depth: 2).signature }
        let text = letters.joined()
        return Signature(unchecked: text.utf8.count > 255 ? "" : text)
    }
}
