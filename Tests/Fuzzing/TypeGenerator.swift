// SPDX-License-Identifier: Apache-2.0

/// Random types, each of which the specification allows at its place.
package struct TypeGenerator: Sendable {
    package static let basicLetters = Array("ybnqiuxtdsog")

    package var random: SplitMix64

    package init(_ random: SplitMix64) { self.random = random }

    /// Types for the arguments of one message, whose signatures together are not too long.
    package mutating func arguments() -> [ValueType] {
        var types: [ValueType] = []
        var length = 0
        for _ in 0..<random.below(6) {
            let next = type(in: Room(), depth: random.below(5))
            length += next.signature.utf8.count
            guard length <= 255 else { break }
            types.append(next)
        }
        return types
    }

    /// A type that is nested to some depth at most.
    package mutating func type(in room: Room, depth: Int) -> ValueType {
        guard depth > 0, room.total > 1 else { return basic() }
        switch random.below(8) {
        case 0, 1: return basic()
        case 2: return .variant
        case 3,
            4 where room.arrays > 0:
            return .array(type(in: room.inArray, depth: depth - 1))
        case 5,
            6 where room.structures > 0:
            // Deep types are narrow: a signature has 255 letters at most.
            let count = 1 + random.below(depth > 2 ? 2 : 4)
            return .structure(
                (0..<count).map { _ in type(in: room.inStructure, depth: depth - 1) }
            )
        case 7 where room.arrays > 0 && room.structures > 0 && room.total > 2:
            let key = random.pick(Self.basicLetters)
            return .dictionary(key: key, type(in: room.inDictionary, depth: depth - 1))
        default: return basic()
        }
    }

    /// A type that is nested as deep as can be in one signature, in any order.
    package mutating func deep() -> ValueType {
        var type = basic()
        var (arrays, structures) = (32, 32)
        while arrays + structures > 0 {
            if arrays > 0, structures == 0 || random.below(2) == 0 {
                arrays -= 1
                if structures > 0, random.oneIn(3) {
                    structures -= 1
                    type = .dictionary(key: random.pick(Self.basicLetters), type)
                } else {
                    type = .array(type)
                }
            } else {
                structures -= 1
                // Brackets and letters of all levels fit: there are 32 structures at most.
                type = .structure(random.oneIn(2) ? [type] : [basic(), type])
            }
        }
        return type
    }

    package mutating func basic() -> ValueType { .basic(random.pick(Self.basicLetters)) }
}
