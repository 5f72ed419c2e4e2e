// SPDX-License-Identifier: Apache-2.0

import Geo
import NMEA
import Testing

/// What the sentences of one epoch say together.
@Suite struct EpochTests {
    private let gga = line("GPGGA,120000,4800.0000,N,01130.0000,E,1,12,1.0,500.0,M,47.0,M,,")
    private let rmc = line("GPRMC,120000,A,4800.0000,N,01130.0000,E,10.0,90.0,310724,,,A")
    private let vtg = line("GPVTG,90.0,T,,M,10.0,N,18.5,K,A")
    private let gsa = line("GNGSA,A,3,04,05,09,,,,,,,,,,2.5,1.3,2.0,1")
    private let gst = line("GPGST,120000,3.2,6.6,4.7,47,3.0,4.0,9.0")
    private let gbs = line("GPGBS,120000,6.0,8.0,20.0,,,,")

    @Test func `all sentences have a part, whatever their order`() throws {
        let parts = [gga, rmc, vtg, gsa, gst, gbs]
        for start in parts.indices {
            for order in [parts, parts.reversed()] {
                let rotated = order[start...] + order[..<start]
                let all = fixes(rotated.joined())
                #expect(all.count == 1)
                let fix = try #require(all.first)
                #expect(fix.horizontalAccuracy == 5)
                #expect(fix.verticalAccuracy == 9)
                #expect(fix.satellitesUsed == 12)
                #expect(fix.hdop == 1 && fix.vdop == 2 && fix.pdop == 2.5)
                #expect(fix.mode == .threeDimensional)
                #expect(fix.altitude == 500)
                #expect(fix.course == 90)
            }
        }
    }

    @Test func `VTG tells speed and course where there is no RMC`() {
        let all = fixes(gga + vtg)
        #expect(all.map(\.course) == [90])
        #expect(all.map { ($0.speed ?? 0) > 5.14 } == [true])
    }

    @Test func `the last of the sentences ends the epoch, as many as there are`() {
        func epoch(_ second: Int) -> String {
            gga.replacingTime(second) + gsa + gsa
        }
        var receiver = Receiver()
        #expect(receiver.feed(epoch(0)).isEmpty)
        #expect(receiver.feed(epoch(1)).count == 2)
        #expect(receiver.feed(gga.replacingTime(2) + gsa).isEmpty)
        #expect(receiver.feed(gsa).map(\.satellitesUsed) == [12])
    }

    @Test func `what comes after a pause without a time is of the next epoch`() {
        var receiver = Receiver()
        _ = receiver.feed(gga)
        #expect(receiver.assembler.flush()?.course == nil)
        #expect(receiver.feed(vtg + gga.replacingTime(1)).map(\.course) == [90])
    }

    @Test func `the expected errors of GBS count where GST has none`() throws {
        #expect(try #require(fixes(gga + gbs).first).horizontalAccuracy == 10)
        #expect(try #require(fixes(gbs + gga).first).verticalAccuracy == 20)
        let empty = line("GPGST,120000,,,,,,,")
        #expect(try #require(fixes(gga + empty + gbs).first).horizontalAccuracy == 10)
    }

    @Test func `errors of another time are of no use`() throws {
        let all = fixes(gga + gst.replacingTime(1) + gga.replacingTime(1))
        #expect(all.map(\.horizontalAccuracy) == [5, 5])
        #expect(all.map(\.verticalAccuracy) == [7.5, 9])
    }

    @Test(arguments: [
        ("0.0,0.0,0.0", 5, 7.5), ("-1,-1,-1", 5, 7.5), ("0.001,0.001,0.001", 0.5, 0.5),
        ("1e9,1,1", 5, 1), ("99999999,9,99999999", 20_000_000, 20_000_000),
    ])
    func `an error of nothing is unknown, and none is too good to be true`(
        row: (String, Double, Double)
    ) throws {
        let fix = try #require(fixes(gga + line("GPGST,120000,3.2,,,," + row.0)).first)
        #expect(fix.horizontalAccuracy == row.1)
        #expect(fix.verticalAccuracy == row.2)
    }

    @Test func `a vertical dilution tells the accuracy of the altitude`() throws {
        let fix = try #require(fixes(gga + gsa).first)
        #expect(fix.horizontalAccuracy == 5)
        #expect(fix.verticalAccuracy == 10)
    }

    @Test func `the dilutions of GSA count where no other are`() throws {
        let fix = try #require(fixes(rmc + gsa + gsa).first)
        #expect(fix.hdop == 1.3)
        #expect(fix.horizontalAccuracy == 6.5)
        #expect(fix.satellitesUsed == 6)
        #expect(fix.altitude == nil)
    }

    @Test func `a system without a fix takes nothing from another's`() throws {
        let none = line("GLGSA,A,1,,,,,,,,,,,,,99.99,99.99,99.99")
        let flat = line("GPGSA,A,2,04,05,09,,,,,,,,,,2.5,1.3,2.0")
        #expect(try #require(fixes(none + flat + rmc).first).mode == .twoDimensional)
        #expect(try #require(fixes(flat + none + rmc).first).hdop == 1.3)
        let fix = try #require(fixes(none + rmc).first)
        #expect(fix.mode == nil && fix.hdop == nil && fix.pdop == nil)
        #expect(fix.horizontalAccuracy == 15)
    }

    @Test func `a GLL with more digits of the second is of the same epoch`() throws {
        let gll = line("GPGLL,4800.0000,N,01130.0000,E,115959.998,A,A")
        let all = fixes(gll + rmc)
        #expect(all.count == 1)
        #expect(all.first?.timestamp.microseconds == 1_722_427_200_000_000)
    }
}

extension String {
    /// The sentence at another second of the same minute.
    fileprivate func replacingTime(_ second: Int) -> String {
        var fields = dropFirst().prefix { $0 != "*" }.split(
            separator: ",",
            omittingEmptySubsequences: false
        )
        let time = "12000\(second)"
        fields[1] = time[...]
        return line(fields.joined(separator: ","))
    }
}
