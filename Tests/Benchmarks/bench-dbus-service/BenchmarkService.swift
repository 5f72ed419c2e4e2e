// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import Glibc

/// A manager with clients, that tells all of them when a line comes.
@LoopActor final class BenchmarkService {
    private static let managerPath: ObjectPath = "/org/freedesktop/GeoClue2/Manager"
    /// What the signal comes from; one message for all has one path.
    private static let signalPath: ObjectPath = "/org/freedesktop/GeoClue2/Client"
    private static let clientInterface: InterfaceName = "org.freedesktop.GeoClue2.Client"
    private static let locationUpdated = Signal<ObjectPath, ObjectPath>(
        "LocationUpdated",
        of: clientInterface,
        arguments: ["old", "new"]
    )

    private let connection: Connection
    private var clients: [Client] = []
    private var feed: LineFeed?
    private var location: ObjectPath = "/"
    private var locationCount = 0

    /// Begins to serve; what it starts keeps it alive.
    static func start(name: BusName, feed path: String) async throws {
        let service = BenchmarkService(on: try await Connection.open(.system))
        service.connection.export([service.manager], at: managerPath)
        service.connection.onDisconnect = { EventLoop.shared.stop() }
        service.feed = try LineFeed(path) { line in
            if line.dropFirst(3).hasPrefix("GGA") { service.update() }
        }
        guard try await service.connection.requestName(name) == .owner else {
            throw DBusError(.failed, "\(name) has another owner")
        }
    }

    private init(on connection: Connection) {
        self.connection = connection
    }

    private var manager: Interface {
        Interface(
            "org.freedesktop.GeoClue2.Manager",
            [
                .property("InUse") { [unowned self] _ in clients.contains { $0.isStarted } },
                .property("AvailableAccuracyLevel") { _ in UInt32(8) },
                .method("GetClient", out: ["client"]) { [unowned self] call in
                    try addClient(of: call)
                },
            ]
        )
    }

    private func addClient(of call: Call) throws -> ObjectPath {
        guard let owner = call.sender else { throw DBusError(.failed, "there is no bus") }
        let path = ObjectPath(unchecked: "/org/freedesktop/GeoClue2/Client/\(clients.count)")
        let client = Client(owner: owner)
        clients.append(client)
        connection.export([interface(of: client)], at: path, visibleTo: owner)
        return path
    }

    private func interface(of client: Client) -> Interface {
        Interface(
            Self.clientInterface,
            [
                .property("DesktopId") { _ in
                    client.desktopID
                } set: { _, name in
                    client.desktopID = name
                },
                .property("RequestedAccuracyLevel") { _ in
                    client.accuracyLevel
                } set: { _, level in
                    client.accuracyLevel = level
                },
                .property("Active") { _ in client.isStarted },
                .method("Start") { _ in client.isStarted = true },
                .method("Stop") { _ in client.isStarted = false },
                .signal(Self.locationUpdated),
            ]
        )
    }

    private func update() {
        let old = location
        location = ObjectPath(
            unchecked: "/org/freedesktop/GeoClue2/Client/Location/\(locationCount)"
        )
        locationCount += 1
        do {
            try connection.emit(
                Self.locationUpdated,
                from: Self.signalPath,
                toEach: clients.filter { $0.isStarted }.map { $0.owner },
                old,
                location
            )
        } catch {
            // There is no bus any more, and so nobody to be told.
        }
    }
}

/// One client of the service.
@LoopActor private final class Client {
    let owner: BusName
    var isStarted = false
    var desktopID = ""
    var accuracyLevel: UInt32 = 0

    init(owner: BusName) {
        self.owner = owner
    }
}
