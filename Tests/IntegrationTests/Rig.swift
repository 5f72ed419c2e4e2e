// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import Geo
import Interfaces
import TestKit

/// A private bus, the real daemon on it, and a receiver that the test plays, over TCP.
@LoopActor struct Rig {
    let bus: PrivateBus
    let feed: LineServer
    let daemon: DaemonUnderTest

    /// The walk that the receiver tells: 1.2 m north a second, from 2026-03-01 10:00:00 UTC on.
    static let track = NMEATrack(
        start: Timestamp(microseconds: 1_772_359_200_000_000),
        latitude: 48.2082,
        longitude: 16.3738,
        step: 0.0000112,
        hasGSA: true
    )

    /// The configuration that allows everybody.
    static let everybody = "[program.*]\nauthorization = always\n"

    init(_ programs: String = Rig.everybody) async throws {
        bus = try await PrivateBus.start()
        feed = try LineServer(.tcp)
        daemon = try await DaemonUnderTest.start(
            on: bus,
            configuration: Self.source(feed) + programs
        )
    }

    /// The section of a source that a server feeds.
    static func source(_ feed: LineServer) -> String {
        "[source.test]\ntype = nmea\naddress = tcp:127.0.0.1:\(feed.port)\n"
    }

    /// Feeds epochs, one each time the clock says so, until told to stop.
    func play(_ seconds: Range<Int>) {
        feed.send(Rig.track.sentences(seconds))
    }

    /// A program on the bus: this process with a connection of its own.
    func program() async throws -> Program {
        try await Program(try await bus.connect())
    }
}

/// A program that uses the service by its main interface, and what it was told.
@LoopActor final class Program {
    enum News: Equatable, CustomStringConvertible {
        case location(LocationDictionary)
        case failed(String)
        case authorization(String, String)

        var description: String {
            switch self {
            case .location(let location): "location \(location.fix.coordinate.latitude)"
            case .failed(let code): "failed \(code)"
            case .authorization(let status, let accuracy): "\(status) \(accuracy)"
            }
        }
    }

    let connection: Connection
    let service: Proxy
    let news = Mailbox<News>()
    private var subscriptions: [Subscription] = []

    init(_ connection: Connection) async throws {
        self.connection = connection
        service = Proxy(
            connection,
            destination: Waymark.busName,
            path: Waymark.path,
            interface: Waymark.location
        )
        try await listen(to: .main, at: Waymark.path)
    }

    /// Listens to the signals of the main object or of a session.
    func listen(to signals: LocationSignals, at path: ObjectPath) async throws {
        guard let owner = try await connection.owner(of: Waymark.busName) else { return }
        subscriptions += [
            try connection.subscribe(to: signals.updated, from: path, of: owner) { [news] in
                news.append(.location($0))
            },
            try connection.subscribe(to: signals.failed, from: path, of: owner) { [news] code, _ in
                news.append(.failed(code))
            },
            try connection.subscribe(to: signals.authorizationChanged, from: path, of: owner) {
                [news] status, details in
                news.append(.authorization(status, details["accuracy"]?.string ?? ""))
            },
        ]
    }

    /// Makes a session of its own and listens to it.
    func session(_ options: [String: Value] = [:]) async throws -> Proxy {
        let path = try await connection.call(
            "CreateSession",
            on: Waymark.sessions,
            at: Waymark.path,
            of: Waymark.busName,
            options
        ).results(ObjectPath.self)
        try await listen(to: .session, at: path)
        return Proxy(
            connection,
            destination: Waymark.busName,
            path: path,
            interface: Waymark.session
        )
    }

    /// Waits for the next location.
    func location(_ what: String = "a location") async throws -> LocationDictionary {
        let item = try await news.next(what) { if case .location = $0 { true } else { false } }
        guard case .location(let location) = item else { throw DeadlinePassed(what) }
        return location
    }

    /// A call that comes back when all that the service has sent before has been handled here.
    func settle() async throws {
        _ = try await service.get("Version", as: String.self)
    }
}

/// The name of the error that a call ends with, `nil` if it succeeds.
@LoopActor func errorName(_ call: () async throws -> Reply) async -> ErrorName? {
    do {
        _ = try await call()
        return nil
    } catch let error as DBusError {
        return error.name
    } catch {
        return "org.waymark.Test.Error.Other"
    }
}
