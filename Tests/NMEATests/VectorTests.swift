// SPDX-License-Identifier: Apache-2.0

import Foundation
import Geo
import NMEA
import Testing

/// Sentences from the test suites of other parsers, with values computed from the standard.
@Suite(
    .enabled(
        if: SharedData.exists(SharedData.vectors),
        "skipped: no vectors; set WAYMARK_SHARED to the folder that has data/nmea-vectors.json"
    )
)
struct VectorTests {
    private struct File: Decodable {
        var vectors: [Vector]
    }

    private struct Vector: Decodable {
        var id: String
        var sentence: String
        var frame: String
        var type: String?
        var verdict: String?
        var expected: Expected?
    }

    private struct Expected: Decodable {
        var fix: Bool?
        var lat: Number?
        var lon: Number?
        var time: String?
        var date: String?
        var hdop: Number?
        var alt_msl_m: Number?
        var geoid_sep_m: Number?
        var speed_kn: Number?
        var course_deg: Number?
    }

    /// A number, or `nil` for the word that stands for an impossible one.
    private struct Number: Decodable {
        var value: Double?

        init(from decoder: any Decoder) throws {
            value = try? decoder.singleValueContainer().decode(Double.self)
        }
    }

    private func vectors() throws -> [Vector] {
        let data = try Data(contentsOf: SharedData.vectors)
        return try JSONDecoder().decode(File.self, from: data).vectors
    }

    /// What we refuse although others take it, or read differently.
    private static let departures = [
        "V192",  // Decimal degrees in a field of degrees and minutes, and a field too many.
        "M05",  // Decimal commas: two fields too many.
    ]

    @Test func `a frame is good or bad as the vectors say`() throws {
        for vector in try vectors() {
            let counts = statistics(vector.sentence)
            let lenient = statistics(vector.sentence, requiresChecksum: false)
            switch vector.frame {
            case "ok":
                #expect(counts.sentences == 1, "\(vector.id)")
            case "checksum-mismatch":
                #expect(counts.sentences == 0, "\(vector.id)")
                #expect(lenient.checksumFailures == 1, "\(vector.id)")
            case "no-checksum":
                #expect(counts.missingChecksums == 1, "\(vector.id)")
                #expect(lenient.sentences == 1, "\(vector.id)")
            case "bad-checksum-syntax", "bad-address", "non-ascii":
                #expect(counts.sentences == 0, "\(vector.id)")
            case "bad-start":
                // As a stream: what follows the noise is a sentence of its own.
                let start = vector.sentence.firstIndex(of: "$")
                let rest = start.map { String(vector.sentence[$0...]) } ?? ""
                #expect(counts == statistics(rest), "\(vector.id)")
            default:
                Issue.record("an unknown frame: \(vector.frame)")
            }
        }
    }

    @Test func `the fields of GGA and RMC are what the vectors say`() throws {
        var count = 0
        for vector in try vectors() {
            guard vector.frame == "ok", vector.type == "GGA" || vector.type == "RMC",
                let expected = vector.expected
            else { continue }
            let read = sentences(vector.sentence).first
            guard vector.verdict != "reject-content", !Self.departures.contains(vector.id),
                // An impossible latitude beside a status of A.
                vector.id != "M04"
            else {
                #expect(read == nil, "\(vector.id)")
                continue
            }
            let sentence = try #require(read, "\(vector.id)")
            check(sentence, expected, vector.id)
            count += 1
        }
        #expect(count >= 89)
    }

    private func check(_ sentence: Sentence, _ expected: Expected, _ id: String) {
        let id = Comment(rawValue: id)
        #expect(sentence.timeOfDay == expected.time.flatMap(microseconds), id)
        switch sentence {
        case .gga(let gga):
            check(gga.coordinate, expected, id)
            #expect(gga.hdop == expected.hdop?.value, id)
            // M22 prints feet, which is not taken.
            #expect(gga.altitude == (id == "M22" ? nil : expected.alt_msl_m?.value), id)
            #expect(gga.geoidSeparation == expected.geoid_sep_m?.value, id)
        case .rmc(let rmc):
            check(rmc.coordinate, expected, id)
            #expect(rmc.date == expected.date.flatMap(midnight), id)
            // M13 has a speed of -1 and a course of 400.
            guard id != "M13" else {
                #expect(rmc.speed == nil && rmc.course == nil)
                return
            }
            #expect(near(rmc.speed, expected.speed_kn?.value.map { $0 * 1852 / 3600 }), id)
            #expect(near(rmc.course, expected.course_deg?.value.map { $0 == 360 ? 0 : $0 }), id)
        case .zda:
            Issue.record(id)
        }
    }

    private func check(_ coordinate: Coordinate?, _ expected: Expected, _ id: Comment) {
        #expect((coordinate != nil) == (expected.fix ?? false), id)
        guard let coordinate else { return }
        #expect(near(coordinate.latitude, expected.lat?.value), id)
        #expect(near(coordinate.longitude, expected.lon?.value), id)
    }

    private func near(_ own: Double?, _ other: Double?) -> Bool {
        guard let own, let other else { return own == other }
        return abs(own - other) < 1e-9
    }

    private func microseconds(_ clock: String) -> Int64? {
        let parts = clock.split(separator: ":").compactMap { Double($0) }
        guard parts.count == 3 else { return nil }
        return Int64((((parts[0] * 60 + parts[1]) * 60 + parts[2]) * 1_000_000).rounded())
    }

    private func midnight(_ date: String) -> Timestamp? {
        let parts = date.split(separator: "-").compactMap { Int($0) }
        guard parts.count == 3 else { return nil }
        return Timestamp(year: parts[0], month: parts[1], day: parts[2])
    }
}
