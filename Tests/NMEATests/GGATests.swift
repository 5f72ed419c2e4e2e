// SPDX-License-Identifier: Apache-2.0

import Geo
import NMEA
import Testing

@Suite struct GGATests {
    /// A good sentence with some fields replaced, counted from 1.
    private func body(_ changes: [Int: String]) -> String {
        var fields = "123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,"
            .split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        for (number, text) in changes { fields[number - 1] = text }
        return "GPGGA," + fields.joined(separator: ",")
    }

    @Test(
        .bug(id: "O40"),
        .bug(id: "O41"),
        arguments: [
            ("4807.038", "N", "00131.000", "E", 48.1173, 1.516666667),
            ("0007.5", "S", "00000.06", "W", -0.125, -0.001),
            ("0000.0", "N", "00023.580", "W", 0, -0.393),
            ("9000.000", "S", "18000.000", "E", -90, 180),
            ("4807", "N", "00131", "E", 48.116666667, 1.516666667),
            ("4807.0380000001", "N", "00131.00000000000000000000001", "E", 48.1173, 1.516666667),
        ]
    )
    func `degrees and minutes become degrees`(
        row: (String, String, String, String, Double, Double)
    ) throws {
        let sentence = try #require(gga(body([2: row.0, 3: row.1, 4: row.2, 5: row.3])))
        let coordinate = try #require(sentence.coordinate)
        #expect(abs(coordinate.latitude - row.4) < 1e-9)
        #expect(abs(coordinate.longitude - row.5) < 1e-9)
    }

    @Test(.bug(id: "O42")) func `a latitude may begin with a zero`() throws {
        let text = "$GPGGA,205846.00,0612.62977,N,07533.94743,W,2,12,0.82,1612.5,M,2.6,M,,0000*4B"
        let fix = try #require(fixes(text).first)
        #expect(abs(fix.coordinate.latitude - 6.210496167) < 1e-9)
        #expect(abs(fix.coordinate.longitude + 75.5657905) < 1e-9)
        #expect(fix.altitude == 1612.5)
    }

    @Test(
        .bug(id: "O38"),
        arguments: [
            "", ".", "-", "+", "..", "1e999", "nan", "inf", "0x10", "5205.192E-5", "4860.000",
            "9000.001", "-4807.038", "+4807.038", "807.038", "04807.038", "48.1173", "4807.",
            "4807.0.8", "480 7.03", "N .°", "4807,038", "4a07.038",
        ]
    )
    func `what is no latitude makes the sentence refused`(latitude: String) {
        #expect(gga(body([2: latitude])) == nil)
    }

    @Test(arguments: [
        (4, "18000.001"), (4, "1131.000"), (4, "001131.000"), (4, "01160.000"), (4, "A"),
        (3, ""), (3, "E"), (3, "n"), (3, "NN"), (5, ""), (5, "N"), (5, "Q"),
        (6, "12"), (6, "9"), (6, "A"), (6, "-1"),
        (1, "240000"), (1, "126000"), (1, "123561"), (1, "1235"), (1, "123519."), (1, "123519.x"),
        (1, "12351.9"), (1, "-12351"), (1, "12:35:19"),
    ])
    func `an impossible time, quality or hemisphere makes the sentence refused`(
        change: (Int, String)
    ) {
        #expect(gga(body([change.0: change.1])) == nil)
        #expect(statistics(line(body([change.0: change.1]))).refused == 1)
    }

    @Test(
        .bug(id: "O38"),
        .bug(id: "O39"),
        arguments: ["", ".", "-", "+", "..", "1e999", "nan", "inf", "0x10", "1.", ".5"]
    )
    func `a dilution or an altitude that is no number is unknown`(text: String) throws {
        let sentence = try #require(gga(body([8: text, 9: text, 11: text])))
        #expect(sentence.coordinate != nil)
        #expect(sentence.hdop == nil)
        #expect(sentence.altitude == nil)
        #expect(sentence.geoidSeparation == nil)
    }

    @Test func `numbers may have a sign where one makes sense`() throws {
        let sentence = try #require(gga(body([8: "-1.0", 9: "-6.7", 11: "+32.0"])))
        #expect(sentence.hdop == nil)
        #expect(sentence.altitude == -6.7)
        #expect(sentence.geoidSeparation == 32)
    }

    @Test func `an altitude in feet is not taken`() throws {
        let sentence = try #require(gga(body([10: "F"])))
        #expect(sentence.altitude == nil)
    }

    @Test(.bug(id: "O34"), .bug(id: "O74"), arguments: ["0", ""])
    func `without quality there is no position, though it is printed`(quality: String) throws {
        let sentence = try #require(gga(body([6: quality])))
        #expect(sentence.coordinate == nil)
        #expect(fixes(line(body([6: quality]))).isEmpty)
    }

    @Test(arguments: [("1", false), ("2", false), ("6", false), ("7", false), ("8", true)])
    func `dead reckoning, typed-in and simulated positions are taken, the last marked`(
        row: (String, Bool)
    ) throws {
        let fix = try #require(fixes(line(body([6: row.0]))).first)
        #expect(fix.isSimulated == row.1)
    }

    @Test func `the origin without a satellite is memory that was never written`() {
        let origin = [2: "0000.000", 4: "00000.000"]
        #expect(fixes(line(body(origin.merging([7: "00"]) { $1 }))).isEmpty)
        #expect(fixes(line(body(origin))).count == 1)
        #expect(fixes(line(body([7: "00"]))).count == 1)
    }

    @Test func `decimal commas add fields and are refused`() {
        let text = "GNGGA,101531.00,5231.203998,N,01324.305000,E,1,12,3,9,78,4,M,0,M,,"
        #expect(gga(text) == nil)
        #expect(gga("GNGGA,101531.00,5231.203998,N,01324.305000,E,1,12,3,9,78.4,M,0,M,,") == nil)
    }

    @Test(arguments: [
        ("M,46.9,M", true), ("M,46.9,M,", true), ("M,46.9,M,,,", true), ("M,46.9,M,,,,", true),
        ("M,46.9,M,2.0,0120", true), ("F,46.9,M,,", true), ("M,,,,", true), (",,,,", true),
        ("M,46.9,M,,,,,", false), ("M,46.9", false), ("M,46,9,M,,", false), ("M,46,9,M", false),
        ("5,M,46,M", false), ("5,M,46.9,M,", false), ("F,46.9,M,,,", false), (",,,,,", false),
    ])
    func `more or fewer fields are taken if the units are in their places`(row: (String, Bool)) {
        let text = "GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545,\(row.0)"
        #expect((gga(text) != nil) == row.1)
    }

    @Test(arguments: [
        ("000000", 0), ("123519", 45_319_000_000), ("123519.5", 45_319_500_000),
        ("123519.123456", 45_319_123_456), ("123519.1234569", 45_319_123_456),
        ("235960.25", 86_400_250_000), ("123519.000", 45_319_000_000),
    ])
    func `the time is read to the microsecond`(row: (String, Int64)) {
        #expect(gga(body([1: row.0]))?.timeOfDay == row.1)
    }
}
