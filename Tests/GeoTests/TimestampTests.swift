// SPDX-License-Identifier: Apache-2.0

import Geo
import Testing

@Suite struct TimestampTests {
    @Test(arguments: [
        (1970, 1, 1, 0), (2000, 2, 29, 951_782_400), (2020, 12, 6, 1_607_212_800),
        (2024, 12, 31, 1_735_603_200), (2100, 3, 1, 4_107_542_400),
    ])
    func `a date is a number of seconds since the epoch`(row: (Int, Int, Int, Int64)) {
        let midnight = Timestamp(year: row.0, month: row.1, day: row.2)
        #expect(midnight?.microseconds == row.3 * 1_000_000)
    }

    @Test(arguments: [
        (2024, 2, 30), (2023, 2, 29), (2100, 2, 29), (2024, 0, 1), (2024, 13, 1), (2024, 4, 31),
        (2024, 1, 0), (1969, 12, 31),
    ])
    func `a date that is not in the calendar is refused`(row: (Int, Int, Int)) {
        #expect(Timestamp(year: row.0, month: row.1, day: row.2) == nil)
    }

    @Test func `a leap second is the next minute's first`() {
        let leap = Timestamp(
            year: 2016,
            month: 12,
            day: 31,
            microsecondOfDay: Timestamp.microsecondsPerDay
        )
        #expect(leap == Timestamp(year: 2017, month: 1, day: 1))
    }

    @Test(arguments: [
        (2024, 2, 29, 43_200_250_000, "2024-02-29T12:00:00.250Z"),
        (1999, 12, 31, 86_399_999_999, "1999-12-31T23:59:59.999999Z"),
        (2000, 3, 1, 0, "2000-03-01T00:00:00.000Z"), (1970, 1, 1, 1, "1970-01-01T00:00:00.000001Z"),
        (9999, 12, 31, 86_400_000_000, "10000-01-01T00:00:00.000Z"),
        (2100, 2, 28, 3_723_040_000, "2100-02-28T01:02:03.040Z"),
    ])
    func `an instant is written as ISO 8601 has it`(row: (Int, Int, Int, Int64, String)) throws {
        let instant = Timestamp(year: row.0, month: row.1, day: row.2, microsecondOfDay: row.3)
        #expect(try #require(instant).iso8601 == row.4)
    }

    @Test func `every day of four hundred years is written as its date`() throws {
        let first = try #require(Timestamp(year: 1970, month: 1, day: 1))
        var date = (year: 1970, month: 1, day: 1)
        for number in 0..<146_097 {
            let day = first.microseconds + Int64(number) * Timestamp.microsecondsPerDay
            let text = Timestamp(microseconds: day).iso8601
            let parts = text.prefix(10).split(separator: "-").compactMap { Int($0) }
            if Timestamp(year: date.year, month: date.month, day: date.day) == nil {
                date = date.month == 12 ? (date.year + 1, 1, 1) : (date.year, date.month + 1, 1)
            }
            #expect(parts == [date.year, date.month, date.day])
            date.day += 1
        }
        #expect(Timestamp(microseconds: -1).iso8601 == "1969-12-31T23:59:59.999999Z")
    }
}
