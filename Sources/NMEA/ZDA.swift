// SPDX-License-Identifier: Apache-2.0

public import Geo

/// A ZDA sentence: the date, for receivers that send no RMC.
public struct ZDA: Hashable, Sendable {
    /// The time of day in UTC, in microseconds.
    public var timeOfDay: Int64

    /// Midnight of the date in UTC.
    public var date: Timestamp

    /// Reads the fields, or makes `nil` of a sentence without time or with an impossible date.
    ///
    /// The last two fields, the local zone, say nothing about UTC and are not read; some receivers
    /// leave them out.
    init?(_ line: Span<UInt8>, _ frame: Frame) {
        guard (4...6).contains(frame.fieldCount),
            let timeOfDay = line.timeOfDay(frame.field(1)),
            let day = line.integer(frame.field(2)),
            let month = line.integer(frame.field(3)),
            let year = line.integer(frame.field(4)),
            let date = Timestamp(year: year, month: month, day: day)
        else { return nil }
        self.timeOfDay = timeOfDay
        self.date = date
    }
}
