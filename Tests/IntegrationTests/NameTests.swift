// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import Interfaces
import TestKit
import Testing

@Suite @LoopActor struct NameTests {
    @Test func `the daemon owns both names on one connection and ends when it is asked to`()
        async throws
    {
        let bus = try await PrivateBus.start()
        let daemon = try await DaemonUnderTest.start(on: bus)
        let connection = try await bus.connect()
        let owner = try await connection.owner(of: Waymark.busName)
        #expect(owner != nil)
        #expect(try await connection.owner(of: GeoClueNames.busName) == owner)
        #expect(try await daemon.stop() == .status(0), "\(daemon.log)")
        #expect(try await connection.owner(of: Waymark.busName) == nil)
    }
}
