// SPDX-License-Identifier: Apache-2.0

internal import Geo

/// What is wrong with the text of a ``SourceAddress``.
public struct SourceAddressError: Error, Hashable, CustomStringConvertible {
    /// One sentence that says what is allowed.
    public let description: String
    /// Whether it is the type that is wrong, not the address behind it.
    public let isAboutType: Bool

    init(_ description: String, isAboutType: Bool = false) {
        self.description = description
        self.isAboutType = isAboutType
    }
}

extension SourceAddress {
    /// The types that there are, for messages.
    public static let typeWords = "gpsd, nmea, modem or static"

    /// Reads `TYPE:ADDRESS`, as on the command line.
    public init(_ text: String) throws(SourceAddressError) {
        let type = text.prefix { $0 != ":" }
        try self.init(type: String(type), address: String(text.dropFirst(type.count + 1)))
    }

    /// Reads a type and an address, as in the configuration.
    public init(type: String, address: String) throws(SourceAddressError) {
        switch type {
        case "gpsd": self = .gpsd(try Self.gpsd(address))
        case "nmea": self = try Self.nmea(address)
        case "static": self = try Self.fixed(address)
        case "modem":
            guard address.isEmpty || address == "any" else {
                throw SourceAddressError(
                    "“\(address)” is no modem: leave the address out, or use any"
                )
            }
            self = .modem
        case "replay", "wifi", "geoclue":
            throw SourceAddressError(
                "this version has no sources of type “\(type)”: use \(Self.typeWords)",
                isAboutType: true
            )
        default:
            throw SourceAddressError(
                "“\(type)” is no type of source: use \(Self.typeWords)",
                isAboutType: true
            )
        }
    }

    private static func gpsd(_ text: String) throws(SourceAddressError) -> StreamEndpoint {
        if text.isEmpty { return .tcp(host: "localhost", port: 2947) }
        return try endpoint(text, defaultPort: 2947, "gpsd needs HOST or HOST:PORT")
    }

    private static func nmea(_ text: String) throws(SourceAddressError) -> SourceAddress {
        let transport = text.prefix { $0 != ":" }
        let rest = String(text.dropFirst(transport.count + 1))
        switch transport {
        case "unix":
            guard rest.hasPrefix("/"), rest.utf8.count <= 107, !rest.utf8.contains(0) else {
                throw SourceAddressError(
                    "“unix:\(rest)” needs an absolute path of at most 107 bytes"
                )
            }
            return .nmea(.unix(rest))
        case "tcp":
            return .nmea(try endpoint(rest, defaultPort: nil, "tcp: needs HOST:PORT"))
        case "file": return try replay(rest)
        case "udp": return try datagrams(rest)
        case "serial": return try serial(rest)
        case "avahi":
            guard rest.isEmpty else {
                throw SourceAddressError(
                    "“avahi:\(rest)” has an address where there is none: use avahi:"
                )
            }
            return .announced
        default:
            throw SourceAddressError(
                "“\(text)” is no address for NMEA: use \(transportWords)"
            )
        }
    }

    private static let transportWords =
        "serial:PATH, unix:PATH, tcp:HOST:PORT, udp:PORT, avahi: or file:PATH"

    /// The rates that a serial line can be given.
    private static let baudRates = [
        1200, 2400, 4800, 9600, 19200, 38400, 57600, 115_200, 230_400, 460_800, 921_600,
    ]

    private static func serial(_ text: String) throws(SourceAddressError) -> SourceAddress {
        let mark = text.lastIndex(of: "@") ?? text.endIndex
        let path = String(text[..<mark])
        guard path.hasPrefix("/"), !path.utf8.contains(0) else {
            throw SourceAddressError(
                "“serial:\(text)” needs the absolute path of a device,"
                    + " such as serial:/dev/ttyACM0 or serial:/dev/ttyUSB0@9600"
            )
        }
        guard mark != text.endIndex else { return .nmeaSerial(path: path, baud: nil) }
        let word = text[text.index(after: mark)...]
        guard let rate = baudRates.first(where: { "\($0)" == word }) else {
            let rates = baudRates.map { "\($0)" }.joined(separator: ", ")
            throw SourceAddressError("baud rate “\(word)” is none of \(rates)")
        }
        return .nmeaSerial(path: path, baud: rate)
    }

    private static func datagrams(_ text: String) throws(SourceAddressError) -> SourceAddress {
        let needs = "udp: needs PORT or HOST:PORT, where HOST is an address of this host"
        if !text.contains(":"), !text.hasPrefix("[") {
            return .nmeaDatagrams(host: nil, port: try port(text[...], of: text, needs))
        }
        guard case .tcp(let host, let port) = try endpoint(text, defaultPort: nil, needs) else {
            preconditionFailure("an endpoint with a port is no path")
        }
        return .nmeaDatagrams(host: host, port: port)
    }

    private static func replay(_ text: String) throws(SourceAddressError) -> SourceAddress {
        // The last question mark begins the options; a path with one in it can end in “?”.
        let mark = text.lastIndex(of: "?") ?? text.endIndex
        let path = String(text[..<mark])
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw SourceAddressError("“file:\(text)” needs a path")
        }
        var (speed, loops) = (1.0, false)
        for option in text[mark...].dropFirst().split(separator: "&") {
            let parts = option.split(separator: "=", maxSplits: 1)
            switch (parts.first, parts.dropFirst().first) {
            case ("speed", let value?):
                guard let factor = Double(value), (0.001...10_000).contains(factor)
                else {
                    throw SourceAddressError(
                        "speed “\(value)” is no factor: use a number from 0.001 to 10000"
                    )
                }
                speed = factor
            case ("loop", "yes"): loops = true
            case ("loop", "no"): loops = false
            default:
                throw SourceAddressError(
                    "“\(option)” is no option of a file: use speed=FACTOR and loop=yes or no"
                )
            }
        }
        return .replay(path: path, speed: speed, loops: loops)
    }

    private static func fixed(_ text: String) throws(SourceAddressError) -> SourceAddress {
        let words = text.split(separator: ",", omittingEmptySubsequences: false)
        let numbers = words.compactMap { Double($0) }
        guard words.count == 3, numbers.count == 3 else {
            throw SourceAddressError(
                "a static source needs LATITUDE,LONGITUDE,ACCURACY in degrees and metres"
            )
        }
        guard let coordinate = Coordinate(latitude: numbers[0], longitude: numbers[1]) else {
            throw SourceAddressError(
                "the place of a static source needs a latitude from -90 to 90"
                    + " and a longitude from -180 to 180"
            )
        }
        guard numbers[2] > 0, numbers[2].isFinite else {
            throw SourceAddressError(
                "the accuracy of a static source is a number of metres above 0"
            )
        }
        return .fixed(coordinate, accuracyMetres: numbers[2])
    }

    private static func endpoint(
        _ text: String,
        defaultPort: UInt16?,
        _ needs: String
    ) throws(SourceAddressError) -> StreamEndpoint {
        var host = Substring(text)
        var port: Substring?
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else {
                throw SourceAddressError("“\(text)” has no ] after its address: \(needs)")
            }
            host = text[text.index(after: text.startIndex)..<end]
            let rest = text[text.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") else {
                throw SourceAddressError("“\(text)” has something between ] and the port: \(needs)")
            }
            if !rest.isEmpty { port = rest.dropFirst() }
        } else if let colon = text.lastIndex(of: ":") {
            host = text[..<colon]
            port = text[text.index(after: colon)...]
            guard !host.contains(":") else {
                throw SourceAddressError(
                    "“\(text)” is an IPv6 address without brackets: write [ADDRESS]:PORT"
                )
            }
        }
        guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 }), !host.contains("/") else {
            throw SourceAddressError("“\(text)” names no host: \(needs)")
        }
        if port == nil, let defaultPort { return .tcp(host: String(host), port: defaultPort) }
        return .tcp(host: String(host), port: try Self.port(port ?? "", of: text, needs))
    }

    private static func port(
        _ digits: Substring,
        of text: String,
        _ needs: String
    ) throws(SourceAddressError) -> UInt16 {
        // `UInt16` would read “+1”.
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(digits),
            port > 0
        else { throw SourceAddressError("“\(text)” has no port from 1 to 65535: \(needs)") }
        return port
    }
}
