// SPDX-License-Identifier: Apache-2.0

public import EventLoop
public import Geo

/// What kind of source, and where, such as `gpsd:localhost:2947` or `nmea:unix:/run/gps.sock`.
public enum SourceAddress: Hashable, Sendable {
    /// The daemon gpsd, on this or another host.
    case gpsd(StreamEndpoint)
    /// Sentences of NMEA 0183 from a server.
    case nmea(StreamEndpoint)
    /// Sentences of NMEA 0183 from a serial line, at a baud rate that is given or found out.
    case nmeaSerial(path: String, baud: Int?)
    /// Sentences of NMEA 0183 in datagrams that are sent to a UDP port of this host: at one of its
    /// addresses, or at all if there is no host.
    case nmeaDatagrams(host: String?, port: UInt16)
    /// Sentences of NMEA 0183 from a recording, played at a multiple of its own speed.
    case replay(path: String, speed: Double, loops: Bool)
    /// A place that never changes.
    case fixed(Coordinate, accuracyMetres: Double)
    /// The receiver in a mobile modem, by way of ModemManager.
    case modem
    /// Servers of NMEA 0183 that are announced on the local network, found by way of Avahi.
    case announced

    /// Makes the source.
    ///
    /// - Parameters:
    ///   - name: Its name for messages.
    ///   - clock: The time.
    ///   - log: Where it tells its comings and goings.
    /// - Returns: A source that has not been started; `nil` of what is reached over D-Bus, which the
    ///   module `PositioningDBus` makes.
    @LoopActor public func makeSource(
        named name: String,
        clock: any Timekeeper,
        log: @escaping SourceLog
    ) -> (any LocationSource)? {
        switch self {
        case .gpsd(let endpoint):
            return GpsdSource(name: name, endpoint: endpoint, clock: clock, log: log)
        case .nmea(let endpoint):
            return NMEASource(
                name: name,
                link: PersistentLink(source: name, endpoint: endpoint, clock: clock, log: log),
                clock: clock
            )
        case .nmeaSerial(let path, let baud):
            let port = SerialPort(source: name, path: path, baud: baud, clock: clock, log: log)
            return NMEASource(
                name: name,
                link: PersistentLink(source: name, target: path, clock: clock, log: log) {
                    SerialLine(port, handler: $0)
                },
                clock: clock
            )
        case .nmeaDatagrams(let host, let port):
            return NMEASource(
                name: name,
                link: PersistentLink(
                    source: name,
                    target: DatagramPort.name(host: host, port: port),
                    clock: clock,
                    log: log
                ) { DatagramPort(host: host, port: port, handler: $0) },
                clock: clock
            )
        case .replay(let path, let speed, let loops):
            return ReplaySource(
                name: name,
                path: path,
                speed: speed,
                loops: loops,
                clock: clock,
                log: log
            )
        case .fixed(let coordinate, let accuracy):
            return StaticSource(
                name: name,
                coordinate: coordinate,
                accuracyMetres: accuracy,
                clock: clock
            )
        case .modem, .announced: return nil
        }
    }
}
