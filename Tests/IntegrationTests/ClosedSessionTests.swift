// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import Interfaces
import TestKit
import Testing

@Suite @LoopActor struct ClosedSessionTests {
    /// A daemon that lets every program know a place that never changes, and a client of it.
    private let bus: PrivateBus
    private let daemon: DaemonUnderTest
    private let client: Connection

    init() async throws {
        bus = try await PrivateBus.start()
        daemon = try await DaemonUnderTest.start(
            on: bus,
            configuration: """
                [source.here]
                type = static
                address = 48.2,16.37,20
                [program.*]
                authorization = always
                """
        )
        client = try await bus.connect()
    }

    private func makeSession(_ client: Connection) async throws -> Proxy {
        let sessions = Proxy(
            client,
            destination: Waymark.busName,
            path: Waymark.path,
            interface: Waymark.sessions
        )
        let options: [String: Value] = [:]
        let path = try await sessions.call("CreateSession", options).results(ObjectPath.self)
        return Proxy(
            client,
            destination: Waymark.busName,
            path: path,
            interface: Waymark.session
        )
    }

    private func expectDaemonLives() async throws {
        let main = Proxy(
            try await bus.connect(),
            destination: Waymark.busName,
            path: Waymark.path,
            interface: Waymark.location
        )
        #expect(try await main.call("GetAuthorization").results(String.self) == "always")
        #expect(daemon.process.exit == nil, "\(daemon.log)")
    }

    private func errorName(_ call: () async throws -> Void) async -> ErrorName? {
        do {
            try await call()
            return nil
        } catch {
            return (error as? DBusError)?.name
        }
    }

    @Test func `a closed session is no object any more`() async throws {
        let session = try await makeSession(client)
        #expect(try await session.get("Active") == false)
        try await session.call("Close")
        #expect(await errorName { try await session.call("Start") } == .unknownObject)
        #expect(await errorName { try await session.call("Close") } == .unknownObject)
        #expect(await errorName { _ = try await session.getAll() } == .unknownObject)
        try await expectDaemonLives()
    }

    @Test func `calls that were sent together with Close are answered, whatever they find`()
        async throws
    {
        for member: MemberName in ["Start", "GetLocation"] {
            let session = try await makeSession(client)
            let calls = [
                Task.immediate { @LoopActor in
                    if member == "Start" {
                        try await session.call("Start")
                    } else {
                        try await session.call("GetLocation", "best", UInt32(1000))
                    }
                },
                Task.immediate { @LoopActor in try await session.call("Close") },
                Task.immediate { @LoopActor in try await session.call("Stop") },
                Task.immediate { @LoopActor in try await session.call("Start") },
                Task.immediate { @LoopActor in
                    try await session.call("GetLocation", "best", UInt32(1000))
                },
                Task.immediate { @LoopActor in try await session.call("Close") },
            ]
            let properties = Task.immediate { @LoopActor in try await session.getAll() }
            let setting = Task.immediate { @LoopActor in
                try await session.set("DistanceFilter", to: 5.0)
            }
            for call in calls {
                let error = await errorName { _ = try await call.value }
                #expect(error != .noReply && error != .disconnected)
            }
            _ = await properties.result
            _ = await setting.result
            #expect(await errorName { try await session.call("Stop") } == .unknownObject)
        }
        try await expectDaemonLives()
    }

    @Test func `a connection that goes takes its sessions with it`() async throws {
        let visitor = try await bus.connect()
        let session = try await makeSession(visitor)
        try await session.call("Start")
        let main = Proxy(
            client,
            destination: Waymark.busName,
            path: Waymark.path,
            interface: Waymark.location
        )
        #expect(try await main.get("InUse") == true)
        visitor.close()
        try await eventually("the end of the session") { try await main.get("InUse") == false }
        try await expectDaemonLives()
    }
}
