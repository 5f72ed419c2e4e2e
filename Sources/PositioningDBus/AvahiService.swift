// SPDX-License-Identifier: Apache-2.0

internal import DBus
internal import Positioning

/// The names of Avahi on the bus, as its interface descriptions give them.
enum AvahiInterface {
    static let busName: BusName = "org.freedesktop.Avahi"
    static let server: InterfaceName = "org.freedesktop.Avahi.Server"
    static let browser: InterfaceName = "org.freedesktop.Avahi.ServiceBrowser"

    /// The type under which receivers on the network are announced.
    static let serviceType = "_nmea-0183._tcp"

    /// Any network interface, or any version of the protocol.
    static let unspecified: Int32 = -1
}

/// One announcement of a service: the same service has one for each network interface and version
/// of the protocol.
struct AvahiService: Hashable, Sendable {
    let interface: Int32
    let networkProtocol: Int32
    let name: String
    let type: String
    let domain: String

    /// Reads the arguments that `ItemNew` and `ItemRemove` share.
    init(_ message: borrowing Message) throws(DBusError) {
        let arguments = try message.arguments(
            Int32.self,
            Int32.self,
            String.self,
            String.self,
            String.self,
            UInt32.self
        )
        (interface, networkProtocol, name, type, domain, _) = arguments
    }
}

/// Where an announced receiver can be reached, and what is promised of it.
struct AvahiReceiver: Hashable, Sendable {
    /// Its address, never its name: not every host can look up the names of the local network.
    let endpoint: StreamEndpoint

    /// How exact it is at best, in metres: from the announcement's `accuracy=`.
    let leastAccuracyMetres: Double

    /// - Parameters:
    ///   - address: The numeric address.
    ///   - port: The port.
    ///   - interface: The network interface, which an address of that network alone needs.
    ///   - texts: The announcement's texts, `key=value` each.
    init(address: String, port: UInt16, interface: Int32, texts: [[UInt8]]) {
        let isLinkLocal = address.lowercased().hasPrefix("fe80:")
        endpoint = .tcp(host: isLinkLocal ? "\(address)%\(interface)" : address, port: port)
        let words = texts.map { String(decoding: $0, as: UTF8.self).lowercased() }
        let word = words.first { $0.hasPrefix("accuracy=") }?.dropFirst("accuracy=".count)
        leastAccuracyMetres = word.map { Self.metres(String($0)) } ?? 0
    }

    /// The words that receivers announce, in metres.
    ///
    /// What is not known is taken as exact, as an announcement without the word is: each fix tells
    /// its own accuracy.
    private static func metres(_ word: String) -> Double {
        switch word {
        case "country": 300_000
        case "city": 15_000
        case "neighborhood": 3_000
        case "street": 300
        default: 0
        }
    }
}
