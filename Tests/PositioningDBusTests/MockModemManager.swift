// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import TestKit

/// A ModemManager in which a test puts modems.
@LoopActor final class MockModemManager {
    /// A modem with a receiver.
    @LoopActor final class Modem {
        let path: ObjectPath
        let capabilities: UInt32
        var enabled: UInt32
        var signals = false
        var location: [UInt32: Value] = [:]
        /// What `Setup` is refused with.
        var refusal: DBusError?
        /// A message for each `Setup`: the sources, and whether their changes are told.
        let setups = Mailbox<[String]>()
        fileprivate(set) var object: ExportedObject?

        fileprivate init(_ path: ObjectPath, capabilities: UInt32, enabled: UInt32) {
            self.path = path
            self.capabilities = capabilities
            self.enabled = enabled
        }

        /// Reports a place as the real one does: as soon as it is set up to tell it.
        func tell(_ source: UInt32, _ value: Value) {
            location[source] = value
            guard signals else { return }
            object?.propertiesChanged("Location", of: MockModemManager.location)
        }
    }

    static let busName: BusName = "org.freedesktop.ModemManager1"
    static let location: InterfaceName = "org.freedesktop.ModemManager1.Modem.Location"

    let connection: Connection

    init(_ bus: PrivateBus) async throws {
        connection = try await bus.connect()
        connection.exportManager(at: "/org/freedesktop/ModemManager1")
        try await connection.requestName(Self.busName)
    }

    /// Plugs a modem in.
    func add(_ number: Int, capabilities: UInt32, enabled: UInt32 = 0) -> Modem {
        let path = ObjectPath(unchecked: "/org/freedesktop/ModemManager1/Modem/\(number)")
        let modem = Modem(path, capabilities: capabilities, enabled: enabled)
        modem.object = connection.export([interface(modem)], at: path)
        return modem
    }

    /// Pulls a modem out.
    func remove(_ modem: Modem) {
        modem.object?.withdraw()
    }

    private func interface(_ modem: Modem) -> Interface {
        Interface(
            Self.location,
            [
                .method("Setup", in: ["sources", "signal_location"]) {
                    (_, sources: UInt32, signals: Bool) in
                    if let refusal = modem.refusal { throw refusal }
                    modem.enabled = sources
                    modem.signals = signals
                    modem.setups.append(["\(sources)", "\(signals)"])
                },
                .method("GetLocation", out: ["Location"]) { _ -> [UInt32: Value] in
                    modem.location
                },
                .property("Capabilities") { _ in modem.capabilities },
                .property("Enabled") { _ in modem.enabled },
                .property("SignalsLocation") { _ in modem.signals },
                .property("Location") { _ in modem.location },
            ]
        )
    }
}
