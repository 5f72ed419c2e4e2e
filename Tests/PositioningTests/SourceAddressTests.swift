// SPDX-License-Identifier: Apache-2.0

import Geo
import Positioning
import TestKit
import Testing

@Suite struct SourceAddressTests {
    private static func tcp(_ host: String, _ port: UInt16) -> StreamEndpoint {
        .tcp(host: host, port: port)
    }

    private static func fixed(
        _ latitude: Double,
        _ longitude: Double,
        _ accuracy: Double
    ) throws -> SourceAddress {
        let place = try #require(Coordinate(latitude: latitude, longitude: longitude))
        return .fixed(place, accuracyMetres: accuracy)
    }

    @Test(arguments: [
        ("gpsd", SourceAddress.gpsd(tcp("localhost", 2947))),
        ("gpsd:", .gpsd(tcp("localhost", 2947))),
        ("gpsd:boat", .gpsd(tcp("boat", 2947))),
        ("gpsd:boat:1", .gpsd(tcp("boat", 1))),
        ("gpsd:192.0.2.7:65535", .gpsd(tcp("192.0.2.7", 65535))),
        ("gpsd:[::1]", .gpsd(tcp("::1", 2947))),
        ("gpsd:[fe80::1%eth0]:4000", .gpsd(tcp("fe80::1%eth0", 4000))),
        ("nmea:unix:/run/gps.sock", .nmea(.unix("/run/gps.sock"))),
        ("nmea:unix:/run/a b:c?d", .nmea(.unix("/run/a b:c?d"))),
        ("nmea:tcp:localhost:10110", .nmea(tcp("localhost", 10110))),
        ("nmea:tcp:[2001:db8::1]:10110", .nmea(tcp("2001:db8::1", 10110))),
        ("nmea:serial:/dev/ttyACM0", .nmeaSerial(path: "/dev/ttyACM0", baud: nil)),
        ("nmea:serial:/dev/ttyS0@4800", .nmeaSerial(path: "/dev/ttyS0", baud: 4800)),
        ("nmea:serial:/dev/ttyS0@921600", .nmeaSerial(path: "/dev/ttyS0", baud: 921_600)),
        ("nmea:serial:/dev/a@b@9600", .nmeaSerial(path: "/dev/a@b", baud: 9600)),
        ("nmea:avahi:", .announced),
        ("modem:", .modem),
        ("modem:any", .modem),
        ("nmea:udp:10110", .nmeaDatagrams(host: nil, port: 10110)),
        ("nmea:udp:192.0.2.7:10110", .nmeaDatagrams(host: "192.0.2.7", port: 10110)),
        ("nmea:udp:[::1]:10110", .nmeaDatagrams(host: "::1", port: 10110)),
        ("nmea:udp:boat:10110", .nmeaDatagrams(host: "boat", port: 10110)),
        ("nmea:file:/log", .replay(path: "/log", speed: 1, loops: false)),
        ("nmea:file:log.nmea", .replay(path: "log.nmea", speed: 1, loops: false)),
        ("nmea:file:C:/log", .replay(path: "C:/log", speed: 1, loops: false)),
        ("nmea:file:/log?speed=10", .replay(path: "/log", speed: 10, loops: false)),
        ("nmea:file:/log?speed=0.5", .replay(path: "/log", speed: 0.5, loops: false)),
        ("nmea:file:/log?speed=10000", .replay(path: "/log", speed: 10000, loops: false)),
        ("nmea:file:/log?loop=yes", .replay(path: "/log", speed: 1, loops: true)),
        ("nmea:file:/log?loop=no", .replay(path: "/log", speed: 1, loops: false)),
        ("nmea:file:/log?speed=2&loop=yes", .replay(path: "/log", speed: 2, loops: true)),
        ("nmea:file:/log?loop=yes&speed=2", .replay(path: "/log", speed: 2, loops: true)),
        ("nmea:file:/what?speed=2?", .replay(path: "/what?speed=2", speed: 1, loops: false)),
        ("nmea:file:/log?", .replay(path: "/log", speed: 1, loops: false)),
    ])
    func `an address is read`(text: String, expected: SourceAddress) throws {
        #expect(try SourceAddress(text) == expected)
    }

    @Test func `a place is read`() throws {
        #expect(try SourceAddress("static:48.1,11.5,20") == Self.fixed(48.1, 11.5, 20))
        #expect(try SourceAddress("static:-90,180,0.5") == Self.fixed(-90, 180, 0.5))
        #expect(try SourceAddress("static:+1,-2e1,1000000") == Self.fixed(1, -20, 1_000_000))
    }

    @Test func `type and address may stand apart, as in the configuration`() throws {
        #expect(
            try SourceAddress(type: "nmea", address: "unix:/run/gps.sock")
                == .nmea(.unix("/run/gps.sock"))
        )
        #expect(try SourceAddress(type: "gpsd", address: "") == .gpsd(Self.tcp("localhost", 2947)))
    }

    @Test func `a path may be as long as the kernel allows`() throws {
        let path = "/" + String(repeating: "x", count: 106)
        #expect(try SourceAddress("nmea:unix:\(path)") == .nmea(.unix(path)))
        let tooLong = path + "x"
        #expect(
            throws: SourceAddressError.self,
            "“unix:\(tooLong)” needs an absolute path of at most 107 bytes"
        ) { try SourceAddress("nmea:unix:\(tooLong)") }
    }

    @Test(arguments: [
        ("", "“” is no type of source: use gpsd, nmea, modem or static"),
        ("gps:host", "“gps” is no type of source: use gpsd, nmea, modem or static"),
        ("GPSD:host", "“GPSD” is no type of source: use gpsd, nmea, modem or static"),
        (":x", "“” is no type of source: use gpsd, nmea, modem or static"),
        (
            "replay:/log",
            "this version has no sources of type “replay”: use gpsd, nmea, modem or static"
        ),
    ])
    func `a wrong type says which there are`(text: String, sentence: String) {
        let error = #expect(throws: SourceAddressError.self) { try SourceAddress(text) }
        #expect(error?.description == sentence)
        #expect(error?.isAboutType == true)
    }

    private static let udpNeeds =
        "udp: needs PORT or HOST:PORT, where HOST is an address of this host"
    private static let transports =
        "use serial:PATH, unix:PATH, tcp:HOST:PORT, udp:PORT, avahi: or file:PATH"

    private static let serialNeeds =
        "needs the absolute path of a device, such as serial:/dev/ttyACM0"
        + " or serial:/dev/ttyUSB0@9600"
    private static let rates =
        "is none of 1200, 2400, 4800, 9600, 19200, 38400, 57600, 115200, 230400, 460800, 921600"

    @Test(arguments: [
        ("gpsd::2947", "“:2947” names no host: gpsd needs HOST or HOST:PORT"),
        ("gpsd:[]:1", "“[]:1” names no host: gpsd needs HOST or HOST:PORT"),
        ("gpsd:/dev/ttyUSB0", "“/dev/ttyUSB0” names no host: gpsd needs HOST or HOST:PORT"),
        ("gpsd:a\0b", "“a\0b” names no host: gpsd needs HOST or HOST:PORT"),
        ("gpsd:a b", "“a b” names no host: gpsd needs HOST or HOST:PORT"),
        ("gpsd:host:", "“host:” has no port from 1 to 65535: gpsd needs HOST or HOST:PORT"),
        ("gpsd:host:0", "“host:0” has no port from 1 to 65535: gpsd needs HOST or HOST:PORT"),
        (
            "gpsd:host:65536",
            "“host:65536” has no port from 1 to 65535: gpsd needs HOST or HOST:PORT"
        ),
        ("gpsd:host:-1", "“host:-1” has no port from 1 to 65535: gpsd needs HOST or HOST:PORT"),
        ("gpsd:host:+1", "“host:+1” has no port from 1 to 65535: gpsd needs HOST or HOST:PORT"),
        (
            "gpsd:[::1]:gps",
            "“[::1]:gps” has no port from 1 to 65535: gpsd needs HOST or HOST:PORT"
        ),
        (
            "gpsd:[::1]2947",
            "“[::1]2947” has something between ] and the port: gpsd needs HOST or HOST:PORT"
        ),
        ("gpsd:[::1", "“[::1” has no ] after its address: gpsd needs HOST or HOST:PORT"),
        ("gpsd:::1", "“::1” is an IPv6 address without brackets: write [ADDRESS]:PORT"),
        (
            "gpsd:fe80::1:2947",
            "“fe80::1:2947” is an IPv6 address without brackets:"
                + " write [ADDRESS]:PORT"
        ),
        ("nmea:tcp:host", "“host” has no port from 1 to 65535: tcp: needs HOST:PORT"),
        ("nmea:tcp:", "“” names no host: tcp: needs HOST:PORT"),
        ("nmea:tcp:[::1]", "“[::1]” has no port from 1 to 65535: tcp: needs HOST:PORT"),
        ("nmea:unix:gps.sock", "“unix:gps.sock” needs an absolute path of at most 107 bytes"),
        ("nmea:unix:", "“unix:” needs an absolute path of at most 107 bytes"),
        ("nmea:unix:/a\0b", "“unix:/a\0b” needs an absolute path of at most 107 bytes"),
        ("nmea:udp:", "“” has no port from 1 to 65535: \(udpNeeds)"),
        ("nmea:udp:0", "“0” has no port from 1 to 65535: \(udpNeeds)"),
        ("nmea:udp:65536", "“65536” has no port from 1 to 65535: \(udpNeeds)"),
        ("nmea:udp:+1", "“+1” has no port from 1 to 65535: \(udpNeeds)"),
        ("nmea:udp:gps", "“gps” has no port from 1 to 65535: \(udpNeeds)"),
        ("nmea:udp:host:", "“host:” has no port from 1 to 65535: \(udpNeeds)"),
        ("nmea:udp::1", "“:1” names no host: \(udpNeeds)"),
        ("nmea:udp:[::1]", "“[::1]” has no port from 1 to 65535: \(udpNeeds)"),
        ("nmea:udp:::1:5", "“::1:5” is an IPv6 address without brackets: write [ADDRESS]:PORT"),
        (
            "nmea:avahi:phone",
            "“avahi:phone” has an address where there is none: use avahi:"
        ),
        (
            "modem:/dev/cdc-wdm0",
            "“/dev/cdc-wdm0” is no modem: leave the address out, or use any"
        ),
        ("nmea:serial:", "“serial:” \(serialNeeds)"),
        ("nmea:serial:ttyACM0", "“serial:ttyACM0” \(serialNeeds)"),
        ("nmea:serial:@9600", "“serial:@9600” \(serialNeeds)"),
        ("nmea:serial:/a\0b", "“serial:/a\0b” \(serialNeeds)"),
        ("nmea:serial:/dev/ttyS0@", "baud rate “” \(rates)"),
        ("nmea:serial:/dev/ttyS0@9601", "baud rate “9601” \(rates)"),
        ("nmea:serial:/dev/ttyS0@+9600", "baud rate “+9600” \(rates)"),
        ("nmea:serial:/dev/ttyS0@fast", "baud rate “fast” \(rates)"),
        (
            "nmea:/dev/ttyACM0",
            "“/dev/ttyACM0” is no address for NMEA: \(transports)"
        ),
        ("nmea:", "“” is no address for NMEA: \(transports)"),
        ("nmea", "“” is no address for NMEA: \(transports)"),
        ("nmea:file:", "“file:” needs a path"),
        ("nmea:file:?speed=2", "“file:?speed=2” needs a path"),
        (
            "nmea:file:/log?speed=0",
            "speed “0” is no factor: use a number from 0.001 to 10000"
        ),
        (
            "nmea:file:/log?speed=-1",
            "speed “-1” is no factor: use a number from 0.001 to 10000"
        ),
        (
            "nmea:file:/log?speed=nan",
            "speed “nan” is no factor: use a number from 0.001 to 10000"
        ),
        (
            "nmea:file:/log?speed=inf",
            "speed “inf” is no factor: use a number from 0.001 to 10000"
        ),
        (
            "nmea:file:/log?speed=10001",
            "speed “10001” is no factor: use a number from 0.001 to 10000"
        ),
        (
            "nmea:file:/log?speed=fast",
            "speed “fast” is no factor: use a number from 0.001 to 10000"
        ),
        (
            "nmea:file:/log?speed=1e-300",
            "speed “1e-300” is no factor: use a number from 0.001 to 10000"
        ),
        (
            "nmea:file:/log?speed",
            "“speed” is no option of a file: use speed=FACTOR and loop=yes or no"
        ),
        (
            "nmea:file:/log?speed=",
            "“speed=” is no option of a file: use speed=FACTOR and loop=yes or no"
        ),
        (
            "nmea:file:/log?loop=maybe",
            "“loop=maybe” is no option of a file: use speed=FACTOR and loop=yes or no"
        ),
        (
            "nmea:file:/log?pace=2",
            "“pace=2” is no option of a file: use speed=FACTOR and loop=yes or no"
        ),
        (
            "static:",
            "a static source needs LATITUDE,LONGITUDE,ACCURACY in degrees and metres"
        ),
        (
            "static:1,2",
            "a static source needs LATITUDE,LONGITUDE,ACCURACY in degrees and metres"
        ),
        (
            "static:1,2,3,4",
            "a static source needs LATITUDE,LONGITUDE,ACCURACY in degrees and metres"
        ),
        (
            "static:1,2,",
            "a static source needs LATITUDE,LONGITUDE,ACCURACY in degrees and metres"
        ),
        (
            "static:91,0,1",
            "the place of a static source needs a latitude from -90 to 90"
                + " and a longitude from -180 to 180"
        ),
        (
            "static:0,181,1",
            "the place of a static source needs a latitude from -90 to 90"
                + " and a longitude from -180 to 180"
        ),
        (
            "static:nan,0,1",
            "the place of a static source needs a latitude from -90 to 90"
                + " and a longitude from -180 to 180"
        ),
        ("static:0,0,0", "the accuracy of a static source is a number of metres above 0"),
        ("static:0,0,-5", "the accuracy of a static source is a number of metres above 0"),
        ("static:0,0,inf", "the accuracy of a static source is a number of metres above 0"),
        ("static:0,0,nan", "the accuracy of a static source is a number of metres above 0"),
    ])
    func `a wrong address says what is allowed`(text: String, sentence: String) {
        let error = #expect(throws: SourceAddressError.self) { try SourceAddress(text) }
        #expect(error?.description == sentence)
        #expect(error?.isAboutType == false)
    }

    @Test(arguments: [
        (StreamEndpoint.unix("/run/gps.sock"), "/run/gps.sock"),
        (tcp("localhost", 2947), "localhost:2947"),
        (tcp("::1", 2947), "[::1]:2947"),
    ])
    func `an endpoint is written as people write it`(endpoint: StreamEndpoint, text: String) {
        #expect(endpoint.description == text)
    }
}
