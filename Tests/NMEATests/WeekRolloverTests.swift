// SPDX-License-Identifier: Apache-2.0

import Geo
import NMEA
import Testing

@Suite struct WeekRolloverTests {
    /// The date of a fix whose receiver tells a date, read with a host's clock.
    private func date(_ told: String, host: Timestamp?) throws -> Timestamp {
        var receiver = Receiver()
        receiver.now = host ?? Timestamp(microseconds: 0)
        let text = line("GPRMC,000000,A,4800.0000,N,01130.0000,E,10.0,90.0,\(told),,,A")
        return try #require((receiver.feed(text) + receiver.finish()).first).timestamp
    }

    private func day(_ year: Int, _ month: Int, _ day: Int) throws -> Timestamp {
        try #require(Timestamp(year: year, month: month, day: day))
    }

    @Test func `the last months of 1999 are those of 1024 weeks later`() throws {
        for host in [nil, try day(2019, 4, 7), try day(2026, 1, 1)] {
            #expect(try date("220899", host: host) == day(2019, 4, 7))
            #expect(try date("311299", host: host) == day(2019, 8, 16))
        }
    }

    @Test(.bug(id: "O49"), arguments: ["130606", "120606", "140606"])
    func `a date that is a multiple of 1024 weeks before today is today's`(told: String) throws {
        let host = Timestamp(microseconds: try day(2026, 1, 27).microseconds + 1_000_000)
        let fixed = try date(told, host: host)
        let days = fixed.since(try day(2026, 1, 27)) / .seconds(86_400)
        #expect(days == ["130606": 0, "120606": -1, "140606": 1][told])
    }

    @Test func `a receiver of the first run of weeks is put right, too`() throws {
        #expect(try date("150486", host: day(2025, 7, 15)) == day(2025, 7, 15))
    }

    @Test func `an old date stands as it is told`() throws {
        for host in [nil, try day(2026, 1, 30), try day(2026, 1, 24), try day(1970, 1, 1)] {
            #expect(try date("130606", host: host) == day(2006, 6, 13))
        }
        #expect(try date("010100", host: nil) == day(2000, 1, 1))
    }

    @Test func `a host's clock in the past moves nothing`() throws {
        #expect(try date("130626", host: day(2006, 10, 28)) == day(2026, 6, 13))
    }
}
