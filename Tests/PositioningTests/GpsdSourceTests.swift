// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Geo
import Positioning
import TestKit
import Testing

/// gpsd's part played by a server that says what a test wants.
@Suite @LoopActor struct GpsdSourceTests {
    private let server: LineServer
    private let rig: SourceRig

    private static let watch = #"?WATCH={"enable":true,"json":true};"#
    private static let end = #"?WATCH={"enable":false};"#
    private static let version =
        #"{"class":"VERSION","release":"3.22","rev":"3.22","proto_major":3,"proto_minor":14}"#
    private static let devices =
        #"{"class":"DEVICES","devices":[{"class":"DEVICE","path":"/dev/ttyACM0","#
        + #""activated":"2025-06-15T15:06:40.000Z","flags":1,"driver":"NMEA0183","native":0,"#
        + #""bps":9600,"parity":"N","stopbits":1,"cycle":1.00}]}"#
    private static let noDevices = #"{"class":"DEVICES","devices":[]}"#

    init() throws {
        server = try LineServer(.tcp)
        server.greeting = Self.version + "\r\n"
        rig = SourceRig(.gpsd(.tcp(host: "127.0.0.1", port: server.port)))
    }

    private func connect() async throws {
        rig.start()
        #expect(try await server.lines.next("a request") == Self.watch)
    }

    private func say(_ lines: String...) {
        for line in lines { server.send(line + "\r\n") }
    }

    private static func tpv(_ fields: String, second: Int = 40) -> String {
        #"{"class":"TPV","device":"/dev/ttyACM0","time":"2025-06-15T15:06:\#(second).000Z","#
            + fields + "}"
    }

    private static func time(ofSecond second: Int) -> Timestamp {
        Timestamp(microseconds: 1_750_000_000_000_000 + Int64(second - 40) * 1_000_000)
    }

    @Test func `a report becomes a fix with all that it tells`() async throws {
        try await connect()
        say(
            Self.devices,
            Self.tpv(
                #""mode":3,"ept":0.005,"lat":48.1,"lon":11.5,"altHAE":566.9,"altMSL":520.0,"#
                    + #""alt":520.0,"epx":9.8,"epy":9.8,"epv":19.6,"track":90.5,"magtrack":87.1,"#
                    + #""speed":1.5,"climb":0.1,"epd":9.8,"eps":1.96,"eph":10.0,"sep":20.0"#
            )
        )
        #expect(try await rig.events.next() == .available)
        let fix = try await rig.fix()
        #expect(fix.coordinate == Coordinate(latitude: 48.1, longitude: 11.5))
        #expect(abs(fix.horizontalAccuracy - 6.17) < 1e-9)
        #expect(fix.altitude == 520)
        #expect(fix.ellipsoidalAltitude == 566.9)
        #expect(fix.verticalAccuracy.map { abs($0 - 10) < 1e-9 } == true)
        #expect(fix.speed == 1.5)
        #expect(fix.speedAccuracy.map { abs($0 - 1) < 1e-9 } == true)
        #expect(fix.course == 90.5)
        #expect(fix.courseAccuracy.map { abs($0 - 5) < 1e-9 } == true)
        #expect(fix.timestamp == Self.time(ofSecond: 40))
        #expect(fix.source == "gpsd")
        #expect(!fix.isSimulated)
        #expect(rig.log.isEmpty)
    }

    @Test func `no mode but 2 and 3 gives a fix`() async throws {
        try await connect()
        say(
            Self.tpv(#""mode":0"#),
            Self.tpv(#""mode":1"#),
            Self.tpv(#""mode":1,"lat":1.0,"lon":1.0"#),
            Self.tpv(#""lat":2.0,"lon":2.0"#),
            Self.tpv(#""mode":3"#),
            Self.tpv(#""mode":3,"lat":3.0"#),
            Self.tpv(#""mode":2,"lon":4.0"#),
            Self.tpv(#""mode":2,"lat":48.1,"lon":11.5"#, second: 41)
        )
        let fix = try await rig.fix()
        #expect(fix.coordinate == Coordinate(latitude: 48.1, longitude: 11.5))
        #expect(fix.timestamp == Self.time(ofSecond: 41))
        #expect(rig.events.contents.isEmpty)
    }

    @Test func `what a report leaves out is unknown, not what the one before said`() async throws {
        try await connect()
        let full =
            #""mode":3,"lat":48.1,"lon":11.5,"altHAE":566.9,"altMSL":520.0,"epv":19.6,"#
            + #""track":90.5,"speed":1.5,"epd":9.8,"eps":1.96,"eph":10.0"#
        say(
            Self.tpv(full),
            Self.tpv(#""mode":2,"lat":48.1,"lon":11.5"#, second: 41),
            Self.tpv(#""mode":3,"lat":48.1,"lon":11.5"#, second: 42),
            Self.tpv(full, second: 43)
        )
        #expect(try await rig.fix().altitude == 520)
        for second in [41, 42] {
            let fix = try await rig.fix()
            var bare = Fix(
                coordinate: try #require(Coordinate(latitude: 48.1, longitude: 11.5)),
                horizontalAccuracy: 25,
                timestamp: Self.time(ofSecond: second),
                source: "gpsd"
            )
            bare.isSimulated = false
            #expect(fix == bare)
        }
        #expect(try await rig.fix().altitude == 520)
    }

    @Test func `a 2D report has no altitude, even if it says one`() async throws {
        try await connect()
        say(Self.tpv(#""mode":2,"lat":48.1,"lon":11.5,"altMSL":520.0,"altHAE":1.0,"epv":1.0"#))
        let fix = try await rig.fix()
        #expect(fix.altitude == nil)
        #expect(fix.ellipsoidalAltitude == nil)
        #expect(fix.verticalAccuracy == nil)
    }

    @Test func `the altitude of an old gpsd is not mistaken`() async throws {
        try await connect()
        // Before 3.20 there was `alt` alone, of which nobody knew what it counts from.
        say(Self.tpv(#""mode":3,"lat":48.1,"lon":11.5,"alt":520.0"#))
        let fix = try await rig.fix()
        #expect(fix.altitude == nil)
        #expect(fix.ellipsoidalAltitude == nil)
    }

    @Test(arguments: [
        (#""eph":10.0"#, 6.17),
        (#""eph":0.0"#, 25),
        (#""eph":-1.0"#, 25),
        (#""eph":0.001"#, 0.01),
        (#""epx":0.0,"epy":0.0"#, 25),
        (#""epx":9.8"#, 25),
        (#""epx":9.8,"epy":9.8"#, 7.55),
        (#""epx":19.6,"epy":0.0"#, 25),
        (#""eph":0.0,"epx":9.8,"epy":9.8"#, 7.55),
        (#""eph":10.0,"epx":98.0,"epy":98.0"#, 6.17),
        ("\"ept\":0.005", 25),
    ])
    func `the accuracy is never nothing`(fields: String, metres: Double) async throws {
        try await connect()
        say(Self.tpv(#""mode":3,"lat":0.0,"lon":0.0,"alt":0.0,"# + fields))
        #expect(try await abs(rig.fix().horizontalAccuracy - metres) < 1e-9)
    }

    @Test(arguments: [
        #""mode":3,"lat":nan,"lon":nan"#,
        #""mode":3,"lat":NaN,"lon":11.5"#,
        #""mode":3,"lat":"NaN","lon":"NaN""#,
        #""mode":3,"lat":inf,"lon":11.5"#,
        #""mode":3,"lat":91.0,"lon":11.5"#,
        #""mode":3,"lat":48.1,"lon":-180.5"#,
        #""mode":3,"lat":1e999,"lon":11.5"#,
        #""mode":3,"lat":null,"lon":null"#,
    ])
    func `a position that is none gives no fix`(fields: String) async throws {
        try await connect()
        say(Self.tpv(fields), Self.tpv(#""mode":2,"lat":48.1,"lon":11.5"#, second: 41))
        #expect(try await rig.fix().timestamp == Self.time(ofSecond: 41))
    }

    @Test(arguments: [
        #""track":nan,"speed":nan,"altMSL":nan,"altHAE":nan,"eph":nan,"epv":nan,"eps":nan"#,
        #""track":-1.0,"speed":-2.0,"epd":0.0,"eps":0.0,"epv":0.0"#,
        #""track":361.0"#,
    ])
    func `a number that is none is unknown`(fields: String) async throws {
        try await connect()
        say(Self.tpv(#""mode":3,"lat":48.1,"lon":11.5,"# + fields))
        say(Self.tpv(#""mode":2,"lat":48.1,"lon":11.5"#, second: 41))
        let fix = try await rig.fix()
        #expect(fix.horizontalAccuracy == 25)
        #expect(fix.course == nil && fix.speed == nil && fix.altitude == nil)
        #expect(fix.verticalAccuracy == nil && fix.speedAccuracy == nil)
        #expect(fix.courseAccuracy == nil && fix.ellipsoidalAltitude == nil)
    }

    @Test func `a course of 360 degrees is north`() async throws {
        try await connect()
        say(Self.tpv(#""mode":3,"lat":48.1,"lon":11.5,"track":360.0"#))
        #expect(try await rig.fix().course == 0)
    }

    @Test func `a simulated fix says so, and the next is not tainted`() async throws {
        try await connect()
        say(
            Self.tpv(#""status":8,"mode":3,"lat":48.1,"lon":11.5"#),
            Self.tpv(#""status":2,"mode":3,"lat":48.1,"lon":11.5"#, second: 41),
            Self.tpv(#""mode":3,"lat":48.1,"lon":11.5"#, second: 42)
        )
        #expect(try await rig.fix().isSimulated)
        #expect(try await !rig.fix().isSimulated)
        #expect(try await !rig.fix().isSimulated)
    }

    @Test func `a report without time has the time of its arrival`() async throws {
        try await connect()
        say(
            Self.tpv(#""mode":3,"lat":48.1,"lon":11.5"#),
            #"{"class":"TPV","mode":3,"lat":48.1,"lon":11.5}"#
        )
        #expect(try await rig.fix().timestamp == Self.time(ofSecond: 40))
        rig.clock.microsecondsSinceEpoch = 1_760_000_000_123_456
        say(#"{"class":"TPV","mode":3,"lat":48.1,"lon":11.5}"#)
        _ = try await rig.fix()
        #expect(try await rig.fix().timestamp == Timestamp(microseconds: 1_760_000_000_123_456))
    }

    // MARK: Receivers that come and go

    @Test func `a gpsd without receiver has no fixes until one comes`() async throws {
        try await connect()
        say(Self.noDevices)
        #expect(try await rig.unavailable() == "gpsd has no receiver")
        say(
            #"{"class":"DEVICE","path":"/dev/ttyACM0","activated":"2025-06-15T15:06:40.000Z"}"#,
            Self.tpv(#""mode":3,"lat":48.1,"lon":11.5"#)
        )
        #expect(try await rig.events.next() == .available)
        #expect(try await server.lines.next("a request") == Self.watch)
        _ = try await rig.fix()
        #expect(server.acceptedCount == 1)
    }

    @Test func `a receiver that resets is watched again`() async throws {
        try await connect()
        say(Self.devices)
        #expect(try await rig.events.next() == .available)
        say(#"{"class":"DEVICE","path":"/dev/ttyACM0","activated":0}"#)
        #expect(try await server.lines.next("a question") == "?DEVICES;")
        say(Self.noDevices)
        try await rig.unavailable()
        say(#"{"class":"DEVICE","path":"/dev/ttyACM0","activated":"2025-06-15T15:06:41.000Z"}"#)
        #expect(try await rig.events.next() == .available)
        #expect(try await server.lines.next("a request") == Self.watch)
        say(Self.tpv(#""mode":3,"lat":48.1,"lon":11.5"#))
        _ = try await rig.fix()
    }

    @Test func `one receiver of two may go`() async throws {
        try await connect()
        say(Self.devices)
        #expect(try await rig.events.next() == .available)
        say(#"{"class":"DEVICE","path":"/dev/ttyACM1","activated":0}"#)
        #expect(try await server.lines.next("a question") == "?DEVICES;")
        say(Self.devices)
        #expect(try await rig.events.next() == .available)
    }

    // MARK: What is not a report

    @Test(arguments: [
        "",
        "{",
        "}",
        "{}",
        "[]",
        "nonsense",
        #"{"class":"TPV"}"#,
        #"{"class":"TPV""#,
        #"{"class":"TPV","mode":3,"lat":48.1,"lon":11.5"#,
        #"{"class":"TPV","mode":3,"lat":48."#,
        #"{"class":"TPV","mode":"three"}"#,
        #"{"class":"NONSENSE","mode":3,"lat":1.0,"lon":1.0}"#,
        #"{"class":"ERROR","message":"Unrecognized request '?FOO'"}"#,
        #"{"class":"VERSION","release":"3.25","rev":"x","proto_major":3,"proto_minor":15}"#,
        #"{"class":"WATCH","enable":true,"json":true,"nmea":false,"raw":0,"scaled":false,"#
            + #""timing":false,"split24":false,"pps":false}"#,
        #"{"class":"SKY","device":"/dev/ttyACM0","xdop":0.5,"hdop":0.9,"pdop":1.5,"satellites":"#
            + #"[{"PRN":2,"el":30.0,"az":100.0,"ss":40.0,"used":true},{"PRN":4,"used":false}]}"#,
        #"{"class":"SKY","satellites":[]}"#,
        #"{"class":"PPS","device":"/dev/pps0","real_sec":1,"real_nsec":2,"clock_sec":1,"#
            + #""clock_nsec":3,"precision":-20}"#,
        #"{"class":"TOFF","device":"/dev/ttyACM0","real_sec":1,"real_nsec":2,"clock_sec":1,"#
            + #""clock_nsec":3}"#,
        #"{"class":"ATT","device":"/dev/ttyACM0","heading":14.2,"mag_st":"N","pitch":-1.0}"#,
        #"{"class":"GST","device":"/dev/ttyACM0","rms":2.4,"lat":1.4,"lon":1.7,"alt":2.9}"#,
        #"{"class":"IMU","device":"/dev/ttyACM0","acc_x":1.0}"#,
        #"{"class":"OSC","device":"/dev/ttyACM0","running":true,"reference":true,"#
            + #""disciplined":false,"delta":67}"#,
        #"{"class":"RTCM2","device":"x","type":1,"station_id":688,"zcount":843.0,"seqnum":5,"#
            + #""length":19,"station_health":6}"#,
        #"{"class":"RTCM3","type":1005,"device":"x","length":19}"#,
        #"{"class":"AIS","device":"x","type":5,"repeat":0,"mmsi":351759000,"scaled":true}"#,
        #"{"class":"SUBFRAME","device":"x","tSV":18,"scaled":true,"TOW17":10,"frame":1}"#,
        #"{"class":"POLL","time":"2025-06-15T15:06:40.000Z","active":0,"tpv":[],"gst":[],"#
            + #""sky":[]}"#,
        #"{"class":"RAW","device":"x","time":1,"nsec":2,"rawdata":[{"gnssid":0,"svid":1}]}"#,
        #"{"class":"DEVICES"}"#,
        "$GPGGA,150640.00,4806.00000,N,01130.00000,E,1,08,0.9,520.0,M,46.9,M,,*00",
        "{\u{0}}",
        "{\"class\":\"TPV\",\u{0}\"mode\":3,\"lat\":1.0,\"lon\":1.0}",
        #"{"class":"TPV","device":"\#(String(repeating: "x", count: 5000))","mode":1}"#,
        #"{"class":"\#(String(repeating: "A", count: 5000))"}"#,
        String(repeating: "{", count: 5000),
        #"{"class":"TPV","mode":3,"lat":1.0,"lon":\#(String(repeating: "1", count: 5000))}"#,
    ])
    func `what is no position gives none and does no harm`(line: String) async throws {
        try await connect()
        say(line, Self.tpv(#""mode":2,"lat":48.1,"lon":11.5"#))
        let event = try await rig.events.next("a fix") { event in
            if case .fix = event { true } else { false }
        }
        guard case .fix(let fix) = event else { return }
        #expect(fix.coordinate == Coordinate(latitude: 48.1, longitude: 11.5))
        #expect(fix.horizontalAccuracy == 25)
        #expect(server.openCount == 1)
    }

    @Test func `a report cut anywhere is read or passed over`() async throws {
        try await connect()
        let report = Self.tpv(#""mode":3,"lat":1.5,"lon":1.5,"track":1.0,"eph":10.0"#)
        for end in report.utf8.indices { say(String(report[..<end])) }
        say(Self.tpv(#""mode":2,"lat":48.1,"lon":11.5"#))
        #expect(try await rig.fix().coordinate.latitude == 48.1)
    }

    @Test func `a report in pieces is whole again`() async throws {
        try await connect()
        for byte in Array((Self.tpv(#""mode":3,"lat":48.1,"lon":11.5"#) + "\r\n").utf8) {
            server.send([byte])
            await turns(2)
        }
        #expect(try await rig.fix().coordinate.longitude == 11.5)
    }

    @Test func `a line without end is passed over`() async throws {
        try await connect()
        server.send(String(repeating: "x", count: 1_000_000))
        say("", Self.tpv(#""mode":2,"lat":48.1,"lon":11.5"#))
        #expect(try await rig.fix().coordinate.latitude == 48.1)
        #expect(server.openCount == 1)
    }

    // MARK: Ends

    @Test func `a stop says so, and hangs up`() async throws {
        try await connect()
        rig.source.stop()
        #expect(try await server.lines.next("the end of the watch") == Self.end)
        #expect(try await server.ends.next("the end") == 1)
        rig.clock.advance(by: .seconds(60))
        await turns()
        #expect(server.acceptedCount == 1)
        #expect(rig.events.contents.isEmpty)
    }

    @Test func `a stop from within a fix is the last that is heard`() async throws {
        rig.onEvent = { [source = rig.source] _ in source.stop() }
        try await connect()
        let report = Self.tpv(#""mode":3,"lat":48.1,"lon":11.5"#)
        server.send(String(repeating: report + "\r\n", count: 5) + Self.noDevices + "\r\n")
        _ = try await rig.fix()
        #expect(try await server.lines.next("the end of the watch") == Self.end)
        _ = try await server.ends.next("the end")
        #expect(rig.events.contents.isEmpty)
    }

    @Test func `a new start from within a fix hears nothing of the old connection`() async throws {
        var restarts = 0
        rig.onEvent = { [weak rig] _ in
            restarts += 1
            guard restarts == 1 else { return }
            rig?.source.stop()
            rig?.start()
        }
        try await connect()
        let report = Self.tpv(#""mode":3,"lat":48.1,"lon":11.5"#)
        server.send(String(repeating: report + "\r\n", count: 5))
        _ = try await rig.fix()
        #expect(try await server.lines.next("the end of the watch") == Self.end)
        #expect(try await server.lines.next("a request") == Self.watch)
        #expect(rig.events.contents.isEmpty)
        say(Self.tpv(#""mode":3,"lat":1.0,"lon":2.0"#))
        #expect(try await rig.fix().coordinate.latitude == 1)
    }

    @Test func `a gpsd that goes and comes back is watched again`() async throws {
        try await connect()
        say(Self.tpv(#""mode":3,"lat":48.1,"lon":11.5"#))
        _ = try await rig.fix()
        server.stopListening()
        server.closeAll()
        try await rig.unavailable()
        for pause in [0.5, 1, 2, 4, 8, 10] {
            rig.clock.advance(by: .seconds(pause))
            try await rig.unavailable()
        }
        try server.listen()
        rig.clock.advance(by: .seconds(10))
        #expect(try await server.lines.next("a request") == Self.watch)
        say(Self.tpv(#""mode":3,"lat":48.1,"lon":11.5"#, second: 50))
        _ = try await rig.fix()
        #expect(
            rig.log == [
                "source receiver: 127.0.0.1:\(server.port) has closed the connection; trying again",
                "source receiver: 127.0.0.1:\(server.port) is back",
            ]
        )
    }
}
