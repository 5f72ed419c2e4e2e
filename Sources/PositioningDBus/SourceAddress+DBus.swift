// SPDX-License-Identifier: Apache-2.0

public import DBus
public import EventLoop
public import Positioning

extension SourceAddress {
    /// Makes the source, of whatever kind.
    ///
    /// - Parameters:
    ///   - name: Its name for messages.
    ///   - connection: The bus on which ModemManager and Avahi are.
    ///   - clock: The time.
    ///   - log: Where it tells its comings and goings.
    /// - Returns: A source that has not been started.
    @LoopActor public func makeSource(
        named name: String,
        over connection: Connection,
        clock: any Timekeeper,
        log: @escaping SourceLog
    ) -> any LocationSource {
        switch self {
        case .announced:
            return AvahiSource(name: name, connection: connection, clock: clock, log: log)
        case .modem:
            return ModemSource(name: name, connection: connection, clock: clock, log: log)
        case .gpsd, .nmea, .nmeaSerial, .nmeaDatagrams, .replay, .fixed:
            guard let source = makeSource(named: name, clock: clock, log: log) else {
                preconditionFailure("a source of this kind needs no bus")
            }
            return source
        }
    }
}
