// SPDX-License-Identifier: Apache-2.0

import Foundation
import Geo
import NMEA
import Testing

/// Our fixes of recorded receivers against those that gpsd made of the same bytes.
@Suite(
    .enabled(
        if: SharedData.exists(SharedData.logs),
        "skipped: no recorded logs; set WAYMARK_SHARED to the folder that has data/gps-logs"
    )
)
struct RecordedLogTests {
    private func body(_ log: String) throws -> [UInt8] {
        try SharedData.bytes(SharedData.logs.appendingPathComponent("\(log)/body.nmea"))
    }

    /// The times of day of the log's GGA and RMC with a position, and of those without.
    private func times(_ bytes: [UInt8]) -> (valid: Set<Int64>, void: Set<Int64>) {
        var reader = SentenceReader()
        var valid: Set<Int64> = []
        var void: Set<Int64> = []
        reader.append(bytes) { sentence in
            guard let time = sentence.timeOfDay else { return }
            switch sentence {
            case .gga(let gga) where gga.isVoid: void.insert(time)
            case .rmc(let rmc) where rmc.isVoid: void.insert(time)
            case .gga(let gga) where gga.coordinate == nil: break
            case .gga, .rmc: valid.insert(time)
            default: break
            }
        }
        return (valid, void)
    }

    private func reference(_ log: String) throws -> [ReferenceFix] {
        let url = SharedData.logs.appendingPathComponent("\(log)/fixes.csv")
        return String(decoding: try SharedData.bytes(url), as: UTF8.self)
            .split(whereSeparator: \.isNewline).dropFirst().compactMap(ReferenceFix.init)
    }

    /// The last digit of a log's coordinates in degrees, of the sentence with the fewest digits.
    private func resolution(_ bytes: [UInt8]) -> Double {
        let fields = String(decoding: bytes, as: UTF8.self).split(separator: ",")
        let digits = zip(fields, fields.dropFirst()).compactMap { field, next -> Int? in
            guard next == "N" || next == "S", let point = field.firstIndex(of: ".") else {
                return nil
            }
            return field.distance(from: point, to: field.endIndex) - 1
        }
        return pow(10, -Double(digits.filter { $0 > 1 }.min() ?? 9)) / 60
    }

    /// How many epochs of a log have no fix of ours at their time and place.
    private static let unplaced = [
        // A chart plotter that reckons on between the sentences of one time: RMC's position is
        // taken, and once gpsd tells only those of GGA and GLL.
        "bundg_zeus_9": 1,
        // RMC's position is 0.1 m from GGA's in the same second, and gpsd tells only GGA's.
        "ch-4701": 3,
        // No sentence with a position has a checksum, which is required.
        "hp58534a": 2,
        // Quality empty, RMC void: the receiver does not stand behind these two positions.
        "myguide-3100": 2,
        // The two last epochs stand only in binary messages.
        "ublox8-uniqid-monhw": 2,
    ]

    /// Of how many placed epochs the altitude is not the reference's.
    private static let otherAltitudes = [
        // The binary messages have one of another geoid; the sentences of these two are cut.
        "ublox8-uniqid-monhw": 2
    ]

    /// Of how many placed epochs the speed is not the reference's.
    private static let otherSpeeds = [
        // VTG of the same time has another speed than RMC, or gpsd takes that of the epoch before.
        "bundg_zeus_9": 17,
        // gpsd makes a speed of two positions where no sentence has told one yet: these receivers
        // send RMC or VTG in few epochs, or after GGA.
        "hemi": 5, "humminbird-M37": 10, "rst39": 39, "ublox-lea-5h": 1,
    ]

    @Test func `every epoch that the reference places is placed`() throws {
        var lines: [String] = []
        var placed = LogScore.Part()
        var altitudes = LogScore.Part()
        var speeds = LogScore.Part()
        for log in try SharedData.logNames() {
            let bytes = try body(log)
            let resolution = resolution(bytes)
            let score = LogScore(fixes(bytes), try reference(log), resolution: resolution)
            lines.append(
                "\(log) \(score.placed), altitudes \(score.altitudes), speeds \(score.speeds)"
            )
            let complaints = Comment(rawValue: "\(log): \(score.complaints.prefix(5))")
            #expect(score.placed.missing == Self.unplaced[log] ?? 0, complaints)
            #expect(score.altitudes.missing == Self.otherAltitudes[log] ?? 0, complaints)
            #expect(score.speeds.missing == Self.otherSpeeds[log] ?? 0, complaints)
            placed += score.placed
            altitudes += score.altitudes
            speeds += score.speeds
        }
        lines.append("all logs \(placed), altitudes \(altitudes), speeds \(speeds)")
        print(lines.joined(separator: "\n"))
        #expect(placed.right >= 1960)
    }

    @Test func `no fix has an accuracy of nothing or lies where nothing is`() throws {
        for log in try SharedData.logNames() {
            for fix in fixes(try body(log)) {
                #expect(fix.horizontalAccuracy > 0 && fix.horizontalAccuracy.isFinite, "\(log)")
                #expect(fix.verticalAccuracy.map { $0 > 0 && $0.isFinite } ?? true, "\(log)")
                #expect(fix.hdop.map { $0 > 0 } ?? true, "\(log)")
                #expect(fix.speed.map { $0 >= 0 } ?? true, "\(log)")
                let place = fix.coordinate
                #expect(abs(place.latitude) > 1e-6 || abs(place.longitude) > 1e-6, "\(log)")
            }
        }
    }

    @Test func `an epoch in which a sentence is void has no fix`() throws {
        for log in try SharedData.logNames() {
            let bytes = try body(log)
            let void = times(bytes).void
            for fix in fixes(bytes) {
                #expect(!void.contains(fix.timeOfDay), "\(log)")
            }
        }
    }

    @Test func `an epoch has one fix`() throws {
        for log in try SharedData.logNames() {
            let stamps = fixes(try body(log)).map(\.timestamp)
            // Two logs were cut together; the second part begins at an earlier time.
            // sounder tells no date: its fixes have the time of arrival, here the same for all.
            guard stamps == stamps.sorted(), log != "sounder" else { continue }
            #expect(Set(stamps).count == stamps.count, "\(log)")
        }
    }

    @Test func `a log cut anywhere gives the same fixes`() throws {
        var generator = SeededGenerator(seed: 1)
        for log in try SharedData.logNames() {
            let bytes = try body(log)
            let whole = fixes(bytes)
            for longest in [1, 7, 600] {
                var receiver = Receiver()
                var pieces: [Fix] = []
                var rest = bytes[...]
                while !rest.isEmpty {
                    let count = Int.random(in: 1...longest, using: &generator)
                    pieces += receiver.feed(rest.prefix(count))
                    rest = rest.dropFirst(count)
                }
                pieces += receiver.finish()
                #expect(pieces == whole, "\(log) in pieces of up to \(longest) bytes")
            }
        }
    }
}

extension Fix {
    fileprivate var timeOfDay: Int64 { timestamp.microseconds % Timestamp.microsecondsPerDay }
}
