// SPDX-License-Identifier: Apache-2.0

import Geo
import NMEA
import Testing

@Suite struct RMCTests {
    /// A good sentence of version 2.3 with some fields replaced, counted from 1.
    private func body(_ changes: [Int: String]) -> String {
        var fields = "120000.00,A,4807.038,N,01131.000,E,022.4,084.4,010124,003.1,W,A"
            .split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        for (number, text) in changes { fields[number - 1] = text }
        return "GPRMC," + fields.joined(separator: ",")
    }

    @Test(.bug(id: "O33"), .bug(id: "O35"), arguments: ["V", "L", "", "a", "AA", "D", "0"])
    func `any status but A is no position`(status: String) throws {
        let sentence = try #require(rmc(body([2: status])))
        #expect(sentence.isVoid)
        #expect(fixes(line(body([2: status]))).isEmpty)
    }

    @Test(.bug(id: "O35")) func `a status of L is not a fix`() {
        let text = "$GPRMC,150449.000,L,4239.5210,N,02318.7727,E,39.75,326.93,040915,,*38"
        #expect(statistics(text).sentences == 1)
        #expect(fixes(text).isEmpty)
    }

    @Test(.bug(id: "O32")) func `a navigational status of V is not void`() throws {
        let text = "$GPRMC,005524.00,A,4926.533828,N,01732.431995,E,0.0,73.2,040122,2.1,E,A,V*73"
        let fix = try #require(fixes(text).first)
        #expect(abs(fix.coordinate.latitude - 49.442230467) < 1e-9)
        #expect(abs(fix.coordinate.longitude - 17.54053325) < 1e-9)
    }

    @Test(arguments: [
        ("A", Quality.autonomous), ("D", .differential), ("E", .estimated), ("F", .floatRTK),
        ("M", .manual), ("P", .precise), ("R", .fixedRTK), ("S", .simulated), ("", nil), ("X", nil),
    ])
    func `the mode tells the quality`(row: (String, Quality?)) throws {
        let sentence = try #require(rmc(body([12: row.0])))
        #expect(sentence.quality == row.1)
        #expect(sentence.coordinate != nil)
        let fix = try #require(fixes(line(body([12: row.0]))).first)
        #expect(fix.isSimulated == (row.0 == "S"))
    }

    @Test func `a mode of N is no position, whatever the status`() {
        #expect(rmc(body([12: "N"]))?.isVoid == true)
        #expect(fixes(line(body([12: "N"]))).isEmpty)
    }

    @Test(
        .bug(id: "O54"),
        arguments: [
            ("022.4", 11.523555556), ("0.0", 0), ("0.00", 0),
            ("0.38876889848816414", 0.199999999999),
            ("360", 185.2), ("", nil), ("-1.0", nil), ("1.9438444924406048E-4", nil), ("nan", nil),
            ("inf", nil), ("0x10", nil), (".", nil), ("..", nil), ("1e999", nil), ("+3", nil),
        ]
    )
    func `knots become metres a second`(row: (String, Double?)) throws {
        let sentence = try #require(rmc(body([7: row.0])))
        #expect(sentence.coordinate != nil)
        #expect((sentence.speed == nil) == (row.1 == nil))
        #expect(abs((sentence.speed ?? 0) - (row.1 ?? 0)) < 1e-9)
    }

    @Test(
        .bug(id: "O53"),
        arguments: [
            ("084.4", 84.4), ("0", 0), ("360", 0), ("360.0", 0), ("359.99", 359.99), ("", nil),
            ("-1", nil), ("400.0", nil), ("360.01", nil), ("nan", nil),
        ]
    )
    func `a course is less than 360 degrees or unknown`(row: (String, Double?)) throws {
        let sentence = try #require(rmc(body([8: row.0])))
        #expect(sentence.coordinate != nil)
        #expect(sentence.course == row.1)
    }

    @Test(.bug(id: "O53")) func `standing still is a speed of zero and no course`() throws {
        let fix = try #require(fixes(line(body([7: "0.00", 8: ""]))).first)
        #expect(fix.speed == 0)
        #expect(fix.course == nil)
        #expect(fix.altitude == nil)
    }

    @Test(
        .bug(id: "O44"),
        arguments: ["310224", "290223", "000024", "011324", "2208-1", "0101", ""]
    )
    func `an impossible date is absent and the position kept`(date: String) throws {
        let sentence = try #require(rmc(body([9: date])))
        #expect(sentence.date == nil)
        #expect(sentence.coordinate != nil)
        var receiver = Receiver()
        let fix = try #require((receiver.feed(line(body([9: date]))) + receiver.finish()).first)
        #expect(fix.timestamp == receiver.now)
    }

    @Test(
        .bug(id: "O50"),
        arguments: [
            ("010180", 1980), ("311299", 1999), ("010100", 2000), ("010179", 2079),
        ]
    )
    func `two digits of a year from 80 on are of the last century`(row: (String, Int)) throws {
        let date = try #require(rmc(body([9: row.0]))?.date)
        let first = try #require(Timestamp(year: row.1, month: 1, day: 1))
        let next = try #require(Timestamp(year: row.1 + 1, month: 1, day: 1))
        #expect(first <= date && date < next)
    }

    @Test(.bug(id: "O46"), .bug(id: "O47")) func `a time is UTC, wherever the computer is`() throws
    {
        let text = "$GPRMC,203253.00,A,2642.08438,N,07859.51125,W,0.065,,061220,,,A*67"
        let fix = try #require(fixes(text).first)
        #expect(fix.timestamp.microseconds == 1_607_286_773_000_000)
    }

    @Test(arguments: [
        "GPRMC,120000,A,4807.038,N,01131.000,E,022.4,084.4,010124,003.1,W",
        "GPRMC,120000,A,4807.038,N,01131.000,E,022.4,084.4,010124,003.1,W,A",
        "GPRMC,120000,A,4807.038,N,01131.000,E,022.4,084.4,010124,003.1,W,A,V",
        "GPRMC,120000,A,4807.038,N,01131.000,E,022.4,084.4,010124,999.9000,E,D",
        "GPRMC,120000,A,4807.038,N,01131.000,E,00.0,000.0,130305,01.,W",
    ])
    func `the versions 2, 2_3 and 4_1 are known, with any variation`(body: String) {
        #expect(rmc(body)?.coordinate != nil)
    }

    @Test(
        .bug(id: "O36"),
        arguments: [
            "GPRMC,181536.000,A,5936.79K,D", "GPRMC", "GPRMC,",
            "GPRMC,120000,A,4807.038,N,01131.000,E",
            "GPRMC,120000,A,4807.038,N,01131.000,E,022.4,084.4,010124,003.1",
            "GPRMC,120000,A,4807.038,N,01131.000,E,022.4,084.4,010124,003.1,W,A,V,X",
            // Decimal commas in speed, in course, in both.
            "GPRMC,120000,A,4807.038,N,01131.000,E,0,38,,010624,,,A",
            "GPRMC,120000,A,4807.038,N,01131.000,E,0,182,5,010624,,,A",
            "GPRMC,120000,A,4807.038,N,01131.000,E,0,38,182,5,010624,,",
            "GPRMC,101533.00,A,5205.192E-5,N,00000.000000,W,0.0,0.0,010624,,,A,V",
        ]
    )
    func `too few, too many or moved fields are refused`(body: String) {
        #expect(rmc(body) == nil)
        #expect(fixes(line(body)).isEmpty)
    }
}
