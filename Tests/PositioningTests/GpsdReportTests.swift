// SPDX-License-Identifier: Apache-2.0

import Geo
import Testing

@testable import Positioning

/// What libgps makes of the lines of gpsd, and what we make of that.
@Suite struct GpsdReportTests {
    private let reader = GpsdReportReader()
    private let arrival = Timestamp(microseconds: 1_750_000_000_000_000)

    private func read(_ line: String) -> GpsdReport {
        reader.read(Array(line.utf8)[...], arrivedAt: arrival)
    }

    private func fix(_ line: String) throws -> Fix {
        guard case .fix(let fix) = read(line) else {
            throw Missing(line: line)
        }
        return fix
    }

    private struct Missing: Error {
        let line: String
    }

    private static let full = #"""
        {"class":"TPV","device":"/dev/ttyACM0","mode":3,"time":"2026-03-01T10:00:00.250Z",\#
        "ept":0.005,"lat":48.208200000,"lon":16.373800000,"altHAE":214.500,"altMSL":171.000,\#
        "epx":8.158,"epy":9.843,"epv":19.600,"track":90.0000,"magtrack":88.1,"speed":1.389,\#
        "climb":0.000,"eps":19.60,"epd":9.80,"epc":39.20,"eph":15.000,"sep":21.660}
        """#

    @Test func `a full report is a full fix, its errors brought to one sigma`() throws {
        let fix = try fix(Self.full)
        #expect(fix.coordinate == Coordinate(latitude: 48.2082, longitude: 16.3738))
        #expect(fix.timestamp.microseconds == 1_772_359_200_250_000)
        #expect(fix.altitude == 171 && fix.ellipsoidalAltitude == 214.5)
        #expect(abs(fix.horizontalAccuracy - 9.255) < 1e-6)
        #expect(abs((fix.verticalAccuracy ?? 0) - 10) < 1e-9)
        #expect(fix.speed == 1.389 && fix.course == 90)
        #expect(abs((fix.speedAccuracy ?? 0) - 10) < 1e-9)
        #expect(abs((fix.courseAccuracy ?? 0) - 5) < 1e-9)
        #expect(fix.source == "gpsd" && !fix.isSimulated)
    }

    @Test(arguments: [
        #"{"class":"TPV","mode":0,"lat":1.0,"lon":2.0}"#,
        #"{"class":"TPV","mode":1,"lat":1.0,"lon":2.0}"#,
        #"{"class":"TPV","mode":1}"#,
        #"{"class":"TPV","mode":3}"#,
        #"{"class":"TPV","mode":3,"lat":91.0,"lon":2.0}"#,
        #"{"class":"TPV","mode":3,"lat":NaN,"lon":2.0}"#,
        #"{"class":"TPV","lat":1.0,"lon":2.0}"#,
        #"{"class":"TPV","mode":3,"lat":1.0,"lon":2.0"#,
        #"{"class":"SKY","device":"x","hdop":1.2,"satellites":[{"PRN":1,"el":1,"az":2,"ss":3,"used":true}]}"#,
        #"{"class":"VERSION","release":"3.22","rev":"3.22","proto_major":3,"proto_minor":14}"#,
        #"{"class":"WATCH","enable":true,"json":true,"nmea":false,"raw":0,"scaled":false}"#,
        #"{"class":"ERROR","message":"Unrecognized request"}"#,
        #"{"class":"PPS","device":"x","real_sec":1,"real_nsec":2,"clock_sec":3,"clock_nsec":4}"#,
        #"{"class":"NONSENSE"}"#, "{}", "{", "[]", "", "$GPGGA,1,2,3*00", "nonsense",
    ])
    func `what is no position makes no fix`(line: String) {
        #expect(read(line) == .other)
    }

    @Test func `nothing is carried over from the report before`() throws {
        _ = try fix(Self.full)
        let flat = try fix(#"{"class":"TPV","mode":2,"lat":1.5,"lon":2.5}"#)
        #expect(flat.altitude == nil && flat.ellipsoidalAltitude == nil)
        #expect(flat.verticalAccuracy == nil && flat.speed == nil && flat.course == nil)
        #expect(flat.speedAccuracy == nil && flat.courseAccuracy == nil)
        #expect(flat.timestamp == arrival)
        #expect(flat.horizontalAccuracy == 25)
        #expect(read(#"{"class":"TPV","mode":3}"#) == .other)
    }

    @Test(arguments: [
        (#""eph":0.0"#, 25.0), (#""eph":-3.0"#, 25), (#""epx":0.0,"epy":0.0"#, 25),
        (#""epx":1.96,"epy":1.96"#, 1.51), (#""eph":0.001"#, 0.01), (#""eph":10.0"#, 6.17),
    ])
    func `an accuracy is never zero nor negative`(row: (String, Double)) throws {
        let fix = try fix(#"{"class":"TPV","mode":2,"lat":0.0,"lon":0.0,\#(row.0)}"#)
        #expect(abs(fix.horizontalAccuracy - row.1) < 1e-9)
    }

    @Test func `a simulator is told apart`() throws {
        let fix = try fix(#"{"class":"TPV","status":8,"mode":3,"lat":1.0,"lon":2.0,"altMSL":3.0}"#)
        #expect(fix.isSimulated)
    }

    @Test func `receivers come and go`() {
        #expect(read(#"{"class":"DEVICES","devices":[]}"#) == .deviceCount(0))
        let device =
            #"{"class":"DEVICE","path":"/dev/ttyACM0","driver":"u-blox","activated":"#
        #expect(
            read(#"{"class":"DEVICES","devices":[\#(device)"2026-03-01T10:00:00Z"}]}"#)
                == .deviceCount(1)
        )
        #expect(read(device + #""2026-03-01T10:00:00Z"}"#) == .device(isActive: true))
        #expect(
            read(#"{"class":"DEVICE","path":"/dev/ttyACM0","activated":0}"#)
                == .device(isActive: false)
        )
    }

    @Test(arguments: [
        ("{}", true), (#"{"a":[1,-2.5e+3,true,false,null,"\"x"],"b":{"c":{}}}"#, true),
        (" { \"a\" : 1 } ", true), ("{0\"class\":\"TPV\"}", false), ("{\"a\":1}x", false),
        ("{\"a\":1", false), ("{\"a\" 1}", false), ("{\"a\":1,}", false), ("{,}", false),
        ("[1]", false), ("{\"a\":nul}", false), ("{\"a\":1.}", false), ("{\"a\":NaN}", false),
        ("{\"a\":\"\u{1}\"}", false), ("", false), ("{\"a\":[[[[[[[[[[1]]]]]]]]]]}", false),
    ])
    func `only an object of JSON is shown to libgps`(row: (String, Bool)) {
        #expect(JSONSyntax.isObject(row.0.utf8) == row.1)
    }

    @Test(arguments: [
        #"{0"class":"TPV","mode":3,"lat":1.0,"lon":2.0}"#,
        #"{"x":[1],"class":"TPV","mode":3,"lat":1.0,"lon":2.0}"#,
        #"{"x":{"y":1},"class":"TPV","mode":3,"lat":1.0,"lon":2.0}"#,
        #"{"class":"TPV","mode":3,"lat":1.0,"lon":2.0,"x":{"class":"TPV"}}"#,
    ])
    func `a line that would keep libgps busy for ever is passed over`(line: String) {
        #expect(read(line) == .other)
    }

    @Test func `a list of receivers may be longer than libgps bears`() {
        for count in [4, 5, 50] {
            let path = String(repeating: "x", count: 300)
            let list = Array(repeating: #"{"class":"DEVICE","path":"\#(path)"}"#, count: count)
            let line = #"{"class":"DEVICES","devices":[\#(list.joined(separator: ","))]}"#
            #expect(read(line) == .deviceCount(count))
        }
    }

    @Test func `no mangled line does harm`() {
        var generator = Mangler(state: 42)
        let bytes = Array(Self.full.utf8)
        for _ in 0..<50_000 {
            var line = bytes
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                let index = Int.random(in: 0..<line.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: line[index] = .random(in: 0...255, using: &generator)
                case 1: line.remove(at: index)
                default: line.insert(.random(in: 32...126, using: &generator), at: index)
                }
            }
            if case .fix(let fix) = reader.read(line[...], arrivedAt: arrival) {
                #expect(fix.horizontalAccuracy > 0)
            }
        }
    }

    /// A generator that makes the same numbers each time.
    private struct Mangler: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ (state >> 29)
        }
    }
}
