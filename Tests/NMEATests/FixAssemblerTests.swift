// SPDX-License-Identifier: Apache-2.0

import Geo
import NMEA
import Testing

/// A GGA of a time and a quality.
private func gga(_ time: String, _ quality: String = "1", minutes: String = "00.0000") -> String {
    line("GPGGA,\(time),48\(minutes),N,01130.0000,E,\(quality),08,1.0,500.0,M,47.0,M,,")
}

/// An RMC of a time, a status and a date.
private func rmc(_ time: String, _ status: String = "A", date: String = "310724") -> String {
    line("GPRMC,\(time),\(status),4800.0000,N,01130.0000,E,10.0,90.0,\(date),,,A")
}

@Suite struct FixAssemblerTests {
    @Test(arguments: [
        gga("120000.25") + rmc("120000.25"), rmc("120000.25") + gga("120000.25"),
    ])
    func `sentences of one time become one fix, whatever their order`(text: String) throws {
        let all = fixes(text)
        #expect(all.count == 1)
        let fix = try #require(all.first)
        #expect(fix.altitude == 500)
        #expect(fix.ellipsoidalAltitude == 547)
        #expect(abs((fix.speed ?? 0) - 5.144444444) < 1e-9)
        #expect(fix.course == 90)
        #expect(fix.source == "nmea")
        #expect(!fix.isSimulated)
        let day = try #require(Timestamp(year: 2024, month: 7, day: 31))
        #expect(fix.timestamp.since(day) == .milliseconds(43_200_250))
    }

    @Test func `without separation there is no ellipsoidal altitude`() throws {
        let text = line("GPGGA,120000,4800.00,N,01130.00,E,1,08,1.0,500.0,M,,M,,")
        let fix = try #require(fixes(text).first)
        #expect(fix.altitude == 500)
        #expect(fix.ellipsoidalAltitude == nil)
    }

    @Test(.bug(id: "O55"), arguments: [("234.7", "-33.2", 201.5), ("-10", "46.8", 36.8)])
    func `the ellipsoidal altitude is the sum`(row: (String, String, Double)) throws {
        let text = line("GPGGA,120000,4800.00,N,01130.00,E,1,08,1.0,\(row.0),M,\(row.1),M,,")
        let altitude = try #require(fixes(text).first?.ellipsoidalAltitude)
        #expect(abs(altitude - row.2) < 1e-9)
    }

    // MARK: When a fix is handed out

    @Test func `once the order is known a fix comes with the sentence that ends its epoch`() {
        var receiver = Receiver()
        #expect(receiver.feed(gga("120000") + rmc("120000")).isEmpty)
        #expect(receiver.assembler.hasPendingFix)
        #expect(receiver.feed(gga("120001")).count == 1)
        #expect(receiver.feed(rmc("120001")).count == 1)
        #expect(!receiver.assembler.hasPendingFix)
        #expect(receiver.feed(gga("120002")).isEmpty)
        #expect(receiver.feed(rmc("120002")).count == 1)
        #expect(receiver.finish().isEmpty)
    }

    @Test(arguments: [
        [gga("120000"), gga("120001"), gga("120002")],
        [rmc("120000"), rmc("120001"), rmc("120002")],
    ])
    func `a receiver of one type of sentence is known after one epoch`(epochs: [String]) {
        var receiver = Receiver()
        #expect(epochs.map { receiver.feed($0).count } == [0, 2, 1])
    }

    @Test func `a fix that lacks its last sentence comes with the next epoch or with a flush`() {
        var receiver = Receiver()
        _ = receiver.feed(gga("120000") + rmc("120000") + gga("120001") + rmc("120001"))
        #expect(receiver.feed(gga("120002")).isEmpty)
        #expect(receiver.feed(gga("120003")).map(\.speed) == [nil])
        #expect(receiver.assembler.hasPendingFix)
        #expect(receiver.finish().count == 1)
        #expect(!receiver.assembler.hasPendingFix)
        #expect(receiver.finish().isEmpty)
        // The late sentence makes no second fix, and one loss has not spoiled the order.
        #expect(receiver.feed(rmc("120003")).isEmpty)
        #expect(receiver.feed(gga("120004")).isEmpty)
        #expect(receiver.feed(rmc("120004")).count == 1)
    }

    @Test func `a receiver that alternates its sentences is not waited for`() {
        var receiver = Receiver()
        _ = receiver.feed(rmc("120000") + gga("120001") + rmc("120002"))
        #expect(receiver.feed(gga("120003")).count == 1)
        #expect(receiver.feed(rmc("120004")).count == 1)
    }

    @Test func `a burst of epochs in one piece gives all of them in order`() {
        let text = (10..<60).map { gga("1200\($0)") + rmc("1200\($0)") }.joined()
        let all = fixes(text)
        #expect(all.count == 50)
        #expect(
            zip(all, all.dropFirst()).allSatisfy { $1.timestamp.since($0.timestamp) == .seconds(1) }
        )
        #expect(all.allSatisfy { $0.altitude == 500 && $0.course == 90 })
    }

    @Test func `repeated sentences make no second fix`() {
        let epoch = gga("120000") + gga("120000") + rmc("120000") + rmc("120000")
        #expect(fixes(epoch + epoch).count == 1)
    }

    @Test func `one GGA for each constellation is one fix`() {
        let text = [("120000", "1"), ("120001", "0")].map { time, quality in
            gga(time) + gga(time, quality).replacingTalker(with: "GA") + rmc(time)
        }
        #expect(fixes(text.joined()).count == 2)
    }

    // MARK: When there is none

    @Test(
        .bug(id: "O74"),
        arguments: [
            gga("120000") + rmc("120000", "V"), gga("120000", "0") + rmc("120000"),
            rmc("120000", "V") + gga("120000"), rmc("120000") + gga("120000", "0"),
            gga("120000", "0") + rmc("120000", "V"),
            rmc("120000") + line("GPGGA,,,,,,0,,,,,,,,"),
        ]
    )
    func `an epoch that contradicts itself has no fix`(epoch: String) {
        #expect(fixes(epoch).isEmpty)
        #expect(fixes(epoch + gga("120001") + rmc("120001")).count == 1)
    }

    @Test func `an empty quality takes nothing back`() throws {
        let all = fixes(gga("120000", "") + rmc("120000"))
        #expect(all.count == 1)
        #expect(all.first?.altitude == nil)
    }

    @Test func `a sentence that is void too late is waited for from then on`() {
        var receiver = Receiver()
        _ = receiver.feed(gga("120000") + gga("120001"))
        #expect(receiver.feed(rmc("120001", "V")).isEmpty)
        #expect(receiver.feed(gga("120002")).isEmpty)
        #expect(receiver.feed(rmc("120002", "V")).isEmpty)
        #expect(receiver.finish().isEmpty)
    }

    @Test func `nothing of one epoch is left in the next`() {
        let all = fixes(gga("120000") + rmc("120000") + rmc("120001") + gga("120002"))
        #expect(all.map(\.altitude) == [500, nil, 500])
        #expect(all.map(\.speed).map { $0 == nil } == [false, false, true])
        #expect(all.map(\.verticalAccuracy).map { $0 == nil } == [false, true, false])
    }

    @Test(.bug(id: "O30"), .bug(id: "O62")) func `empty sentences are no fix, however many`() {
        let text =
            "$GPRMC,,V,,,,,,,,,,N*53\r\n$GPGGA,,,,,,0,,,,,,,,*66\r\n"
            + "$GPGSA,A,1,,,,,,,,,,,,,,,,*32\r\n$GNGGA,051033.85,,,,,0,00,9999.0,,,,,,*41\r\n"
        #expect(fixes(String(repeating: text, count: 600)).isEmpty)
    }

    @Test(.bug(id: "O36")) func `a truncated sentence changes nothing`() {
        let rest = gga("120001") + rmc("120001")
        let cut = "$GPRMC,181536.000,A,5936.79K,D*3A\r\n"
        #expect(fixes(rmc("120000") + cut + rest) == fixes(rmc("120000") + rest))
    }
}

@Suite struct FixTimeTests {
    private func seconds(_ text: String) -> [Double] {
        fixes(text).map { Double($0.timestamp.microseconds) / 1e6 }
    }

    private let midnight = 1_722_470_400.0  // 2024-08-01 00:00

    @Test(.bug(id: "O45")) func `the date goes over midnight without being told`() {
        let before = gga("235958") + rmc("235958")
        #expect(
            seconds(before + gga("235959") + gga("000000") + gga("000001.5"))
                == [midnight - 2, midnight - 1, midnight, midnight + 1.5]
        )
        // The GGA of an epoch comes before the RMC that has the new date.
        #expect(
            seconds(before + gga("000000") + rmc("000000", date: "010824") + gga("000001"))
                == [midnight - 2, midnight, midnight + 1]
        )
    }

    @Test func `a leap second is the next day's first instant`() {
        #expect(seconds(rmc("235960") + rmc("000001", date: "010824")) == [midnight, midnight + 1])
    }

    @Test(.bug(id: "O75")) func `ten fixes a second are a tenth of a second apart`() {
        let all = fixes((0..<10).map { gga("120000.\($0)00") + rmc("120000.\($0)00") }.joined())
        #expect(all.count == 10)
        #expect(
            zip(all, all.dropFirst()).allSatisfy {
                $1.timestamp.since($0.timestamp) == .milliseconds(100)
            }
        )
    }

    @Test func `until a date is told the time is that of arrival`() throws {
        var receiver = Receiver()
        #expect(receiver.feed(gga("120000")).isEmpty)
        let first = receiver.now
        receiver.now = Timestamp(microseconds: first.microseconds + 1_000_000)
        let all = receiver.feed(gga("120001"))
        #expect(all.map(\.timestamp) == [first, receiver.now])
    }

    @Test(.bug(id: "O50"), arguments: ["060180", "311298", "210899"])
    func `a date before the first rollover is not believed`(date: String) throws {
        var receiver = Receiver()
        let text = rmc("000010", date: date)
        #expect((receiver.feed(text) + receiver.finish()).map(\.timestamp) == [receiver.now])
        // What was told before still holds.
        let all = receiver.feed(rmc("120000") + rmc("120001", date: date)).suffix(2)
        #expect(all.count == 2)
        #expect(all.last?.timestamp.microseconds == 1_722_427_201_000_000)
    }

    @Test func `the date of a void sentence is not believed`() throws {
        var receiver = Receiver()
        let all = receiver.feed(rmc("000010", "V", date: "010108") + gga("120000"))
        #expect((all + receiver.finish()).map(\.timestamp) == [receiver.now])
    }

    @Test func `a receiver without RMC may tell the date in ZDA`() {
        let date = line("GPZDA,120000,31,07,2024,00,00")
        #expect(
            seconds(gga("120000") + date + gga("120001")) == [midnight - 43200, midnight - 43199]
        )
        #expect(sentences(line("GPZDA,120000,31,02,2024,00,00")).isEmpty)
        #expect(sentences(line("GPZDA,120000,31,07,2024")).count == 1)
        #expect(sentences(line("GPZDA,120000,5,31,07,2024,00,00")).isEmpty)
    }

    @Test func `a log that starts again is followed`() {
        let log = (10..<20).map { gga("1200\($0)") + rmc("1200\($0)") }.joined()
        let all = seconds(log + log)
        #expect(all.count == 20)
        #expect(all.prefix(10) == all.suffix(10))
        let older = (10..<20).map { gga("1100\($0)") + rmc("1100\($0)", date: "010120") }.joined()
        #expect(seconds(log + older).suffix(10) == seconds(older).suffix(10))
    }

    @Test func `a date that has been carried out of the calendar is forgotten`() {
        var receiver = Receiver()
        var last: Fix?
        let days = line("GPZDA,120000,31,12,9999,00,00") + gga("160000") + gga("235959")
        for fix in receiver.feed(days + gga("080000")) + receiver.finish() { last = fix }
        #expect(last?.timestamp == receiver.now)
    }

    @Test func `a sentence knows its time of day`() {
        #expect(sentences(gga("000001.25")).first?.timeOfDay == 1_250_000)
        #expect(sentences(rmc("010000")).first?.timeOfDay == 3_600_000_000)
        #expect(sentences(line("GPZDA,000002,31,07,2024,,")).first?.timeOfDay == 2_000_000)
        #expect(sentences(line("GPGGA,,,,,,0,,,,,,,,")).first?.timeOfDay == nil)
    }
}

extension String {
    /// The sentence of another talker, and the checksum put right.
    fileprivate func replacingTalker(with talker: String) -> String {
        line(talker + dropFirst(3).prefix { $0 != "*" })
    }
}
