// SPDX-License-Identifier: Apache-2.0

/// The types of sentences that have a part in the fix of an epoch.
enum Part: Int, CaseIterable {
    case gga
    case rmc
    case gns
    case gll
    case vtg
    case gsa
    case gst
    case gbs
}

/// How often each type has been in an epoch, and which came last.
struct PartTally {
    /// The type of the sentence that came last.
    private(set) var last: Part?

    private var counts = InlineArray<8, UInt8>(repeating: 0)

    /// How many sentences of a type there were, at most 255.
    func count(_ part: Part) -> UInt8 { counts[part.rawValue] }

    /// Whether no sentence with a position but GLL has been there.
    var isOnlyGLL: Bool { count(.gga) == 0 && count(.rmc) == 0 && count(.gns) == 0 }

    mutating func note(_ part: Part) {
        if counts[part.rawValue] < .max { counts[part.rawValue] += 1 }
        last = part
    }
}
