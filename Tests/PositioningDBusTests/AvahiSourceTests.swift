// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import Geo
import Positioning
import PositioningDBus
import TestKit
import Testing

/// Receivers that are announced on the network, by an Avahi that the test plays, and read over real
/// connections.
@Suite @LoopActor struct AvahiSourceTests {
    private static let track = NMEATrack(hasGSA: true)

    /// A bus, a source on it, and what that tells.
    @LoopActor private final class Rig {
        let bus: PrivateBus
        let clock = ManualTimekeeper()
        let events = Mailbox<SourceEvent>()
        let source: AvahiSource

        init() async throws {
            bus = try await PrivateBus.start()
            source = AvahiSource(
                name: "phone",
                connection: try await bus.connect(),
                clock: clock
            ) { _ in }
        }

        isolated deinit { source.stop() }

        func start() {
            source.start { [events] in events.append($0) }
        }

        func fix() async throws -> Fix {
            let event = try await events.next("a fix") {
                if case .fix = $0 { true } else { false }
            }
            guard case .fix(let fix) = event else { throw DeadlinePassed("a fix") }
            return fix
        }

        func reason() async throws -> String {
            guard case .unavailable(let reason) = try await events.next("an outage") else {
                throw DeadlinePassed("an outage")
            }
            return reason
        }
    }

    @Test func `a receiver is reached by its address, and let go of with the source`() async throws
    {
        let rig = try await Rig()
        let avahi = try await MockAvahi(rig.bus)
        let phone = try LineServer(.tcp)
        try avahi.announce("gps-share", "127.0.0.1", phone.port, ["accuracy=exact", "x"])
        rig.start()
        #expect(try await avahi.browsers.next() == "new")
        _ = try await phone.connections.next("the source")
        phone.send(Self.track.sentences(0..<2))
        let fix = try await rig.fix()
        #expect(fix.timestamp == Self.track.time(of: 0))
        #expect(fix.horizontalAccuracy < 10)
        rig.source.stop()
        _ = try await phone.ends.next("the source's end")
        #expect(try await avahi.browsers.next() == "free")
    }

    @Test func `a receiver that promises no more than a street gives no more`() async throws {
        let rig = try await Rig()
        let avahi = try await MockAvahi(rig.bus)
        let phone = try LineServer(.tcp)
        rig.start()
        try avahi.announce("phone", "127.0.0.1", phone.port, ["Accuracy=Street"])
        _ = try await phone.connections.next("the source")
        phone.send(Self.track.sentences(0..<2))
        #expect(try await rig.fix().horizontalAccuracy == 300)
    }

    @Test func `receivers that come and go are followed, one at a time`() async throws {
        let rig = try await Rig()
        rig.start()
        #expect(try await rig.reason() == "Avahi is not running")
        let avahi = try await MockAvahi(rig.bus)
        #expect(try await rig.reason() == "no receiver is announced on the network")
        let (first, second) = (try LineServer(.tcp), try LineServer(.tcp))
        try avahi.announce("first", "127.0.0.1", first.port)
        _ = try await first.connections.next("the source")
        first.send(Self.track.sentences(0..<2))
        #expect(try await rig.fix().timestamp == Self.track.time(of: 0))
        try avahi.announce("second", "127.0.0.1", second.port)
        _ = try await second.connections.next("the source")
        second.send(Self.track.sentences(10..<12))
        // The other one's word does not count while the first tells.
        first.send(Self.track.sentences(2..<4))
        for second in 1...3 {
            #expect(try await rig.fix().timestamp == Self.track.time(of: second))
        }
        try avahi.withdraw("first")
        _ = try await first.ends.next("the source's end")
        second.send(Self.track.sentences(12..<14))
        #expect(try await rig.fix().timestamp >= Self.track.time(of: 10))
        avahi.connection.close()
        _ = try await second.ends.next("the source's end")
        _ = try await rig.events.next("the outage") {
            $0 == .unavailable(reason: "Avahi is not running")
        }
    }

    @Test func `a receiver that is announced but not there is an outage`() async throws {
        let rig = try await Rig()
        let avahi = try await MockAvahi(rig.bus)
        let phone = try LineServer(.tcp)
        phone.stopListening()
        try avahi.announce("gone", "127.0.0.1", phone.port)
        rig.start()
        #expect(try await rig.reason().hasPrefix("cannot connect to 127.0.0.1:"))
        try phone.listen()
        rig.clock.advance(by: .milliseconds(500))
        _ = try await phone.connections.next("the source")
        phone.send(Self.track.sentences(0..<2))
        #expect(try await rig.events.next() == .available)
        _ = try await rig.fix()
    }
}
