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
}
