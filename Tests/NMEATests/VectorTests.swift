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
        var sats: Number?
        var course_true: Number?
        var speed_ms: Number?
        var fix_dim: Number?
        var pdop: Number?
        var vdop: Number?
        var lat_sd: Number?
        var lon_sd: Number?
        var alt_sd: Number?
        var total: Number?
        var index: Number?
        var in_view: Number?
        var value: Number?
        var heading_mag: Number?
        var deviation: Number?
        var dev_dir: String?
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
        "M04",  // An impossible latitude beside a status of A.
        "M09",  // The same.
        "V079",  // A number of satellites with a fraction.
        "V080",  // A number of sentences with a letter.
        "V240",  // A ZDA without time and date.
        "V360",  // A ZDA with a date but no time.
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

    private static let types: Set = [
        "GGA", "RMC", "GNS", "GLL", "VTG", "GSA", "GSV", "GST", "GBS", "ZDA", "HDT", "HDM", "HDG",
        "THS", "VHW",
    ]

    @Test func `the fields of a sentence are what the vectors say`() throws {
        var count = 0
        for vector in try vectors() {
            guard vector.frame == "ok", let type = vector.type, Self.types.contains(type),
                let expected = vector.expected
            else { continue }
            let read = sentences(vector.sentence).first
            guard vector.verdict != "reject-content", !Self.departures.contains(vector.id) else {
                #expect(read == nil, "\(vector.id)")
                continue
            }
            let sentence = try #require(read, "\(vector.id)")
            check(sentence, expected, vector.id)
            count += 1
        }
        print("vectors: \(count) sentences read")
        #expect(count >= 89)
    }

    @Test func `what is no sentence of ours is none`() throws {
        for vector in try vectors() where vector.frame == "ok" {
            guard !Self.types.contains(vector.type ?? "") else { continue }
            #expect(sentences(vector.sentence).isEmpty, "\(vector.id)")
        }
    }

    private func check(_ sentence: Sentence, _ expected: Expected, _ id: String) {
        let id = Comment(rawValue: id)
        // Of GBS the vectors tell no fields.
        if case .gbs = sentence { return }
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
        case .gns(let gns):
            check(gns.coordinate, expected, id)
            #expect(gns.hdop == expected.hdop?.value, id)
            #expect(gns.altitude == expected.alt_msl_m?.value, id)
            #expect(gns.geoidSeparation == expected.geoid_sep_m?.value, id)
            #expect(gns.satellites.map(Double.init) == expected.sats?.value, id)
        case .gll(let gll):
            check(gll.coordinate, expected, id)
        case .zda(let zda):
            #expect(zda.date == expected.date.flatMap(midnight), id)
        case .vtg(let vtg):
            #expect(near(vtg.speed, expected.speed_ms?.value, within: 1e-6), id)
            #expect(near(vtg.course, expected.course_true?.value.map { $0 == 360 ? 0 : $0 }), id)
        case .gsa(let gsa):
            let dimensions: Fix.Mode? =
                switch expected.fix_dim?.value {
                case 2: .twoDimensional
                case 3: .threeDimensional
                default: nil
                }
            #expect(gsa.mode == dimensions, id)
            #expect(gsa.pdop == expected.pdop?.value, id)
            #expect(gsa.hdop == expected.hdop?.value, id)
            #expect(gsa.vdop == expected.vdop?.value, id)
        default: checkRest(sentence, expected, id)
        }
    }

    private func checkRest(_ sentence: Sentence, _ expected: Expected, _ id: Comment) {
        switch sentence {
        case .gsv(let gsv):
            #expect(Double(gsv.sentenceCount) == expected.total?.value, id)
            #expect(Double(gsv.sentenceNumber) == expected.index?.value, id)
            #expect(Double(gsv.satellitesInView) == expected.in_view?.value, id)
        case .gst(let gst):
            #expect(gst.latitudeError == expected.lat_sd?.value, id)
            #expect(gst.longitudeError == expected.lon_sd?.value, id)
            #expect(gst.altitudeError == expected.alt_sd?.value, id)
        case .heading(let heading):
            // A flag other than T, M or A is not read as a heading.
            let isOther = ["V091", "V121", "V122", "V123"].contains(id.rawValue)
            let told = expected.value?.value ?? expected.heading_mag?.value
            let sign = ["E": 1.0, "W": -1.0][expected.dev_dir ?? ""]
            let offset = sign.flatMap { sign in expected.deviation?.value.map { $0 * sign } } ?? 0
            let own = heading.magneticDegrees ?? heading.trueDegrees
            #expect(near(own, isOther ? nil : told.map { $0 + offset }), id)
        default: break
        }
    }

    private func check(_ coordinate: Coordinate?, _ expected: Expected, _ id: Comment) {
        #expect((coordinate != nil) == (expected.fix ?? false), id)
        guard let coordinate else { return }
        #expect(near(coordinate.latitude, expected.lat?.value), id)
        #expect(near(coordinate.longitude, expected.lon?.value), id)
    }

    private func near(_ own: Double?, _ other: Double?, within limit: Double = 1e-9) -> Bool {
        guard let own, let other else { return own == other }
        return abs(own - other) < limit
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
