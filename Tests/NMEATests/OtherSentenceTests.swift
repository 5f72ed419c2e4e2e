// SPDX-License-Identifier: Apache-2.0

import Geo
import NMEA
import Testing

/// The sentences beside GGA and RMC.
@Suite struct OtherSentenceTests {
    private func one(_ body: String) -> Sentence? {
        let all = sentences(line(body))
        return all.count == 1 ? all[0] : nil
    }

    private func isRefused(_ body: String) -> Bool {
        statistics(line(body)).refused == 1
    }

    // MARK: Positions

    @Test func `a GLL has a position and a time`() throws {
        let text = line("IIGLL,4807.038,N,01131.000,W,120000.5,A,D")
        let fix = try #require(fixes(text).first)
        #expect(abs(fix.coordinate.latitude - 48.1173) < 1e-9)
        #expect(abs(fix.coordinate.longitude + 11.516666667) < 1e-9)
        #expect(fixes(line("GPGLL,4807.038,N,01131.000,W,120000,A")).count == 1)
    }

    @Test(arguments: [
        "GPGLL,,,,,120000,V,N", "GPGLL,4807.038,N,01131.000,E,120000,V,A",
        "GPGLL,4807.038,N,01131.000,E,120000,A,N", "GPGLL,4807.038,N,01131.000,E,120000,D,A",
    ])
    func `a GLL that is void takes the position from its epoch`(body: String) throws {
        guard case .gll(let gll) = try #require(one(body)) else { throw Missing() }
        #expect(gll.isVoid && gll.coordinate == nil)
        let gga = line("GPGGA,120000,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,")
        #expect(fixes(gga + line(body)).isEmpty)
    }

    @Test(arguments: [
        "GPGLL,4807.038,N,01131.000,E", "GPGLL,4807.038,N,01131.000,E,120000",
        "GPGLL,4807.038,N,01131.000,E,120000,", "GPGLL,,,,,,,",
    ])
    func `a GLL without status says nothing`(body: String) throws {
        guard case .gll(let gll) = try #require(one(body)) else { throw Missing() }
        #expect(!gll.isVoid && gll.coordinate == nil)
    }

    @Test func `a GNS has what a GGA has`() throws {
        let text = line("GNGNS,120000.00,4807.038,N,01131.000,E,AAN,14,0.6,161.5,-48.0,,,V")
        let fix = try #require(fixes(text).first)
        #expect(fix.altitude == 161.5)
        #expect(fix.ellipsoidalAltitude == 113.5)
        #expect(fix.satellitesUsed == 14)
        #expect(fix.hdop == 0.6)
        #expect(fix.horizontalAccuracy == 3)
    }

    @Test(arguments: [
        ("AN", Quality.autonomous), ("DD", .differential), ("DA", .autonomous), ("NR", .fixedRTK),
        ("RF", .floatRTK), ("E", .estimated), ("N", .invalid), ("NNNNNN", .invalid), ("", nil),
    ])
    func `the poorest system of a GNS tells its quality`(row: (String, Quality?)) throws {
        let body = "GNGNS,120000.00,4807.038,N,01131.000,E,\(row.0),14,0.6,161.5,48.0,,"
        guard case .gns(let gns) = try #require(one(body)) else { throw Missing() }
        #expect(gns.quality == row.1)
        #expect((gns.coordinate == nil) == (row.1 == nil || row.1 == .invalid))
        #expect(gns.isVoid == (row.1 == .invalid))
    }

    // MARK: Speed, satellites and errors

    @Test(
        .bug(id: "O54"),
        arguments: [
            ("054.7,T,034.4,M,005.5,N,010.2,K,A", 2.829444444, 54.7),
            ("054.7,T,034.4,M,005.5,N,010.2,K", 2.829444444, 54.7),
            (",T,,M,,N,41.5,K,A", 11.527777778, nil), (",T,,M,0.00,N", 0, nil),
            ("360.0,T,348.7,M,000.0,N,000.0,K", 0, 0), ("400,T,,M,-1,N,,K,A", nil, nil),
            ("T,45.5,67.5,M,30.45,N,56.40,K", 15.664833333, nil), (",,,,,,,,", nil, nil),
            ("054.7,T,034.4,M,005.5,N,010.2,K,N", nil, nil),
        ] as [(String, Double?, Double?)]
    )
    func `a VTG tells speed and course`(row: (String, Double?, Double?)) throws {
        guard case .vtg(let vtg) = try #require(one("GPVTG," + row.0)) else { throw Missing() }
        #expect((vtg.speed == nil) == (row.1 == nil))
        #expect(abs((vtg.speed ?? 0) - (row.1 ?? 0)) < 1e-9)
        #expect(vtg.course == row.2)
    }

    @Test(arguments: [
        ("A,3,04,05,,09,12,,,24,,,,,2.5,1.3,2.1", 5),
        ("A,3,04,05,,09,12,,,24,,,,,2.5,1.3,2.1,1", 5),
        ("A,3,27,23,13,07,25,,,,,,,,,,,,,,,,,,,,2.5,1.3,2.1", 5),
    ])
    func `a GSA has places for 12 or 24 satellites`(row: (String, Int)) throws {
        guard case .gsa(let gsa) = try #require(one("GNGSA," + row.0)) else { throw Missing() }
        #expect(gsa.mode == .threeDimensional && !gsa.hasNoFix)
        #expect(gsa.satellites == row.1)
        #expect(gsa.pdop == 2.5 && gsa.hdop == 1.3 && gsa.vdop == 2.1)
    }

    @Test func `a short GSA has no dilutions`() throws {
        guard case .gsa(let gsa) = try #require(one("GPGSA,A,1,,,,")) else { throw Missing() }
        #expect(gsa.hasNoFix && gsa.mode == nil && gsa.pdop == nil)
    }

    @Test func `a GST has errors, of the ellipse if there are no others`() throws {
        guard case .gst(let gst) = try #require(one("GPGST,120000,3.2,6.6,4.7,47,5.8,5.6,22.0"))
        else { throw Missing() }
        #expect(gst.latitudeError == 5.8 && gst.longitudeError == 5.6 && gst.altitudeError == 22)
        guard case .gst(let other) = try #require(one("GPGST,120000,3.2,6.6,4.7,47,,,0.0"))
        else { throw Missing() }
        #expect(other.latitudeError == 6.6 && other.longitudeError == 4.7)
        #expect(other.altitudeError == nil)
    }

    @Test(
        arguments: [
            ("GPHDT,123.4,T", 123.4, nil), ("GPHDT,123.4,X", nil, nil), ("GPHDT,,T", nil, nil),
            ("INTHS,360,A", 0, nil), ("INTHS,30,V", nil, nil), ("HCHDM,98.3,M", nil, 98.3),
            ("HCHDG,98.3,,,12.3,W", 86, 98.3), ("HCHDG,1,,,3,W", 358, 1),
            ("HCHDG,350,5,E,10,E", 5, 355), ("HCHDG,98.3,0.1,X,12.6,X", nil, 98.3),
            ("SDHDG,,,,,", nil, nil), ("SDVHW,235.6,T,234.2,M,6.2,N,11.6,K", 235.6, 234.2),
        ] as [(String, Double?, Double?)]
    )
    func `a heading is true or magnetic`(row: (String, Double?, Double?)) throws {
        guard case .heading(let heading) = try #require(one(row.0)) else { throw Missing() }
        func near(_ own: Double?, _ other: Double?) -> Bool {
            own.map { abs($0 - (other ?? .nan)) < 1e-9 } ?? (other == nil)
        }
        #expect(near(heading.trueDegrees, row.1))
        #expect(near(heading.magneticDegrees, row.2))
    }

    @Test func `a heading is no course`() {
        let gga = line("GPGGA,120000,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,")
        #expect(fixes(line("GPHDT,12.3,T") + gga + line("GPHDT,12.3,T")).map(\.course) == [nil])
    }

    // MARK: What cannot be meant

    @Test(arguments: [
        // Decimal commas.
        "GPGLL,4807,038,N,01131,000,E,120000,A,A", "GPGLL,4807,038,N,01131,000,E,120000,A",
        "GNGNS,120000.00,4807.038,N,01131.000,E,AN,14,0,6,161,5,48,0,,",
        "GNGNS,120000.00,4807.038,N,01131.000,E,AN,14,0,6,161.5,48.0,,",
        "GNGNS,120000.00,4807.038,N,01131.000,E,AN,14,0.6,161,5,-48.0,,",
        "GPVTG,54,7,T,34,4,M,5,5,N,10,2,K,A", "GPVTG,54.7,T,34.4,M,5,5,N,10,2,K",
        "GNGSA,A,3,04,05,,09,12,,,24,,,,,2,5,1,3,2,1",
        "GNGSA,A,3,04,05,,09,12,,,24,,,,,2.5,1.3,2,15",
        "GPGST,120000,3,2,6,6,4,7,47,5,8,5,6,22,0", "GNGBS,170556.00,3,0,2.9,8.3,,,,",
        "GPHDT,123,4,T", "HCHDG,98,3,,,12,3,W", "SDVHW,235,6,T,234,2,M,6,2,N,11,6,K",
        // Letters, times and places that are none.
        "GPGLL,4860.000,N,01131.000,E,000000.00,A,A", "GPGLL,4807.038,N,01131.000,E,250000,A,A",
        "GPGLL,5.2E-5,N,01131.000,E,120000,A,A", "GPVTG,,T,,M,,N,,K,Q",
        "GNGNS,120000.00,4807.038,N,01131.000,E,AX,14,0.6,161.5,48.0,,",
        "GPGSV,A3,1,11,03,03,111,00", "GPGSV,3,4,11,03,03,111,00", "GPGSV,3,0,11", "GPGSV,0,0,00",
        "GNGST",
    ])
    func `moved or broken fields make a sentence refused`(body: String) {
        #expect(isRefused(body))
        #expect(fixes(line(body)).isEmpty)
    }

    private struct Missing: Error {}
}
