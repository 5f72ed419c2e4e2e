// SPDX-License-Identifier: Apache-2.0

import Geo
import NMEA
import Testing

@Suite struct ErrorModelTests {
    private func fix(_ quality: String, _ hdop: String) throws -> Fix {
        let text = line("GPGGA,120000,4800.00,N,01130.00,E,\(quality),08,\(hdop),500.0,M,47.0,M,,")
        return try #require(fixes(text).first)
    }

    @Test(arguments: [
        ("1", "1.0", 5.0), ("1", "0.5", 2.5), ("1", "3.86", 19.3), ("2", "0.8", 2),
        ("3", "1.0", 2.5),
        ("4", "1.0", 0.04), ("5", "1.0", 0.5), ("6", "1.0", 30), ("7", "1.0", 30), ("8", "1.0", 5),
    ])
    func `the dilution is multiplied by the error of the kind of fix`(
        row: (String, String, Double)
    ) throws {
        let fix = try fix(row.0, row.1)
        #expect(abs(fix.horizontalAccuracy - row.2) < 1e-9)
        #expect(abs((fix.verticalAccuracy ?? 0) - row.2 * 1.5) < 1e-9)
    }

    @Test(.bug(id: "O39"), arguments: ["", "0", "0.0", "0.00", "-1.0", "nan"])
    func `an unknown dilution is taken as 3`(hdop: String) throws {
        #expect(try fix("1", hdop).horizontalAccuracy == 15)
    }

    @Test(arguments: [("0.01", 2.5), ("0.49", 2.5), ("50", 250), ("99.99", 250), ("9999.0", 250)])
    func `no accuracy is too good or too bad to be true`(row: (String, Double)) throws {
        #expect(try fix("1", row.0).horizontalAccuracy == row.1)
    }

    @Test func `a position of no satellite is no better than an estimated one`() throws {
        let text = line("GPGGA,120000,4800.00,N,01130.00,E,1,00,1.0,500.0,M,47.0,M,,")
        #expect(try #require(fixes(text).first).horizontalAccuracy == 30)
    }

    @Test func `a receiver of RMC alone has 15 metres and no altitude`() throws {
        let text = line("GPRMC,120000,A,4800.00,N,01130.00,E,10.0,90.0,310724,,,A")
        let fix = try #require(fixes(text).first)
        #expect(fix.horizontalAccuracy == 15)
        #expect(fix.verticalAccuracy == nil)
    }

    @Test func `the poorer of two qualities counts, and simulated is simulated`() throws {
        func both(_ quality: String, _ mode: String) throws -> Fix {
            try #require(
                fixes(
                    line("GPGGA,120000,4800.00,N,01130.00,E,\(quality),08,1.0,500.0,M,47.0,M,,")
                        + line("GPRMC,120000,A,4800.00,N,01130.00,E,1,9,310724,,,\(mode)")
                ).first
            )
        }
        #expect(try both("1", "E").horizontalAccuracy == 30)
        #expect(try both("4", "D").horizontalAccuracy == 2.5)
        #expect(try both("4", "").horizontalAccuracy == 0.04)
        #expect(try both("1", "S").isSimulated)
        #expect(try both("8", "A").isSimulated)
    }
}
