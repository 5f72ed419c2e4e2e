// SPDX-License-Identifier: Apache-2.0

/// Steele, Lea and Flood's generator: small, fast, and the same numbers for the same seed.
package struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }

    /// A number from 0 up to another one, which it is not.
    package mutating func below(_ limit: Int) -> Int {
        Int(truncatingIfNeeded: next().multipliedFullWidth(by: UInt64(limit)).high)
    }

    /// True as often as once in so many times.
    package mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }

    /// One of several.
    package mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[below(elements.count)]
    }
}
