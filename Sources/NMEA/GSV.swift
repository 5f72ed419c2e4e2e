// SPDX-License-Identifier: Apache-2.0

/// A GSV sentence: one of a group that lists the satellites above the horizon.
///
/// Only its head is read: which satellites are where has no part in a fix.
public struct GSV: Hashable, Sendable {
    /// How many sentences the group has, 1 or more.
    public var sentenceCount: Int

    /// Which of them this is, from 1 on.
    public var sentenceNumber: Int

    /// How many satellites of the system are in view.
    public var satellitesInView: Int

    /// Reads the fields, or makes `nil` of a sentence that is to be refused.
    init?(_ line: Span<UInt8>, _ frame: Frame) {
        guard frame.fieldCount >= 3, let count = line.integer(frame.field(1)),
            let number = line.integer(frame.field(2)), let inView = line.integer(frame.field(3)),
            number >= 1, number <= count
        else { return nil }
        sentenceCount = count
        sentenceNumber = number
        satellitesInView = inView
    }
}
