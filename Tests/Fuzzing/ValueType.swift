// SPDX-License-Identifier: Apache-2.0

/// A complete type of the bus, taken apart.
package indirect enum ValueType: Sendable {
    case basic(Character)
    case array(ValueType)
    case structure([ValueType])
    case dictionary(key: Character, ValueType)
    case variant

    package var signature: String {
        switch self {
        case .basic(let letter): String(letter)
        case .array(let element): "a" + element.signature
        case .structure(let members): "(" + members.map(\.signature).joined() + ")"
        case .dictionary(let key, let value): "a{\(key)\(value.signature)}"
        case .variant: "v"
        }
    }
}

/// How many containers may still be opened at a place in a message.
///
/// The specification allows 32 arrays and 32 structures in one signature and 64 containers in a
/// message, of which a dictionary is two and a variant one, which begins a signature of its own.
package struct Room: Sendable {
    package var arrays = 32
    package var structures = 32
    package var total = 64

    package init() {}

    package var inArray: Room { less(arrays: 1, total: 1) }
    package var inStructure: Room { less(structures: 1, total: 1) }
    package var inDictionary: Room { less(arrays: 1, structures: 1, total: 2) }

    package var inVariant: Room {
        var room = Room()
        room.total = total - 1
        return room
    }

    private func less(arrays: Int = 0, structures: Int = 0, total: Int) -> Room {
        var room = self
        room.arrays -= arrays
        room.structures -= structures
        room.total -= total
        return room
    }
}
