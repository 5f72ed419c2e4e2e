// SPDX-License-Identifier: Apache-2.0

internal import DBus

/// The names of ModemManager on the bus, as its interface description gives them.
enum ModemInterface {
    static let busName: BusName = "org.freedesktop.ModemManager1"
    static let root: ObjectPath = "/org/freedesktop/ModemManager1"
    static let location: InterfaceName = "org.freedesktop.ModemManager1.Modem.Location"
    static let objectManager: InterfaceName = "org.freedesktop.DBus.ObjectManager"
    static let properties: InterfaceName = "org.freedesktop.DBus.Properties"

    /// What a modem can tell of its place (`MMModemLocationSource`), as far as it is exact.
    struct Sources: OptionSet, Hashable, Sendable {
        let rawValue: UInt32

        /// Numbers, without any accuracy.
        static let rawGPS = Sources(rawValue: 2)
        /// Sentences of NMEA 0183.
        static let sentences = Sources(rawValue: 4)
    }
}
