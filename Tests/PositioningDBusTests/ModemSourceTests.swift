// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import Geo
import Positioning
import PositioningDBus
import TestKit
import Testing

/// The receiver in a modem, by way of a ModemManager that the test plays.
@Suite @LoopActor struct ModemSourceTests {
    private static let track = NMEATrack(hasGSA: true)

    /// A bus, a source on it, and what that tells.
    @LoopActor private final class Rig {
        let bus: PrivateBus
        let clock = ManualTimekeeper()
        let events = Mailbox<SourceEvent>()
        let log = Mailbox<String>()
        let source: ModemSource

        init() async throws {
            bus = try await PrivateBus.start()
            source = ModemSource(
                name: "modem",
                connection: try await bus.connect(),
                clock: clock
            ) { [log] in log.append($0) }
        }

        isolated deinit { source.stop() }

        func start() {
            source.start { [events] in events.append($0) }
        }

        /// The next fix, after the sentences of an epoch have settled.
        ///
        /// What the modem knew when it was set up may settle before, and be nothing.
        func fix(_ what: String = "a report") async throws -> Fix {
            try await eventually("\(what) settles") { [clock, events] in
                if clock.isAwaited { clock.advance(by: .milliseconds(100)) }
                return !events.contents.isEmpty
            }
            guard case .fix(let fix) = try await events.next("a fix") else {
                throw DeadlinePassed("a fix")
            }
            return fix
        }

        func reason() async throws -> String {
            guard case .unavailable(let reason) = try await events.next("an outage") else {
                throw DeadlinePassed("an outage")
            }
            return reason
        }
    }

    @Test func `a modem's sentences become fixes, one an epoch`() async throws {
        let rig = try await Rig()
        let manager = try await MockModemManager(rig.bus)
        let modem = manager.add(0, capabilities: 1 | 2 | 4, enabled: 1)
        rig.start()
        // What was enabled stays so.
        #expect(try await modem.setups.next() == ["5", "true"])
        for second in 0..<3 {
            modem.tell(4, .string(Self.track.sentences(second)))
            let fix = try await rig.fix()
            #expect(fix.timestamp == Self.track.time(of: second))
            #expect(abs(fix.coordinate.latitude - Self.track.latitude(of: second)) < 1e-6)
            #expect(fix.source == "modem" && fix.altitude != nil && fix.speed != nil)
            // The same once more, with one sentence renewed, is nothing new.
            modem.tell(4, .string(Self.track.sentences(second) + "$GPGSV,1,1,00*79\r\n"))
            try await eventually("a report settles") { rig.clock.isAwaited }
            rig.clock.advance(by: .milliseconds(100))
        }
        #expect(rig.events.contents.isEmpty)
        rig.source.stop()
        #expect(try await modem.setups.next() == ["1", "false"])
    }

    @Test func `sentences in the order of their kinds, of two epochs, give the newer one`()
        async throws
    {
        let rig = try await Rig()
        let manager = try await MockModemManager(rig.bus)
        let modem = manager.add(0, capabilities: 4)
        rig.start()
        _ = try await modem.setups.next()
        let old = Self.track.sentences(0).split(separator: "\r\n")
        let new = Self.track.sentences(1).split(separator: "\r\n")
        let text = [new.last, old.first].compactMap { $0 }.joined(separator: "\n")
        modem.tell(4, .string(text))
        let fix = try await rig.fix()
        #expect(fix.timestamp == Self.track.time(of: 1))
    }

    @Test func `a modem with numbers alone tells those, with the day of today`() async throws {
        let rig = try await Rig()
        let manager = try await MockModemManager(rig.bus)
        let modem = manager.add(0, capabilities: 2)
        rig.start()
        #expect(try await modem.setups.next() == ["2", "true"])
        // 00:00:10 UTC, and the modem is at 23:59:58.5 of the day before.
        rig.clock.microsecondsSinceEpoch = 1_750_032_010_000_000
        let place = try Value(
            encoding: [
                "utc-time": Value.string("235958.50"), "latitude": .double(-33.5),
                "longitude": .double(151.25), "altitude": .double(12),
            ]
        )
        modem.tell(2, place)
        let fix = try await rig.fix()
        #expect(fix.coordinate == Coordinate(latitude: -33.5, longitude: 151.25))
        #expect(fix.timestamp == Timestamp(microseconds: 1_750_031_998_500_000))
        #expect(fix.altitude == 12 && fix.horizontalAccuracy == 15)
    }

    @Test func `what is no place gives no fix`() async throws {
        let rig = try await Rig()
        let manager = try await MockModemManager(rig.bus)
        let modem = manager.add(0, capabilities: 2 | 4)
        rig.start()
        _ = try await modem.setups.next()
        let texts = ["", "$GPRMC,,V,,,,,,,,,,N*53\r\n", "$GPGGA,,,,,,0,,,,,,,,*66\r\nnonsense"]
        for value in texts.map({ Value.string($0) }) + [.uint32(7), .array(of: "s", ["x"])] {
            modem.tell(4, value)
            modem.tell(2, try Value(encoding: ["latitude": Value.double(.nan)]))
            try await eventually("a report settles") { rig.clock.isAwaited }
            rig.clock.advance(by: .milliseconds(100))
        }
        #expect(rig.events.contents.isEmpty)
    }

    @Test func `modems that come and go are followed`() async throws {
        let rig = try await Rig()
        rig.start()
        #expect(try await rig.reason() == "ModemManager is not running")
        let manager = try await MockModemManager(rig.bus)
        #expect(try await rig.reason() == "no modem has a receiver")
        let phone = manager.add(3, capabilities: 1)
        let first = manager.add(1, capabilities: 4)
        _ = try await first.setups.next()
        #expect(try await rig.events.next() == .available)
        first.tell(4, .string(Self.track.sentences(0)))
        _ = try await rig.fix("the first modem's report")
        let second = manager.add(2, capabilities: 4)
        manager.remove(first)
        _ = try await second.setups.next()
        second.tell(4, .string(Self.track.sentences(1)))
        _ = try await rig.fix("the second modem's report")
        manager.remove(second)
        #expect(try await rig.reason() == "no modem has a receiver")
        #expect(phone.enabled == 0)
        manager.connection.close()
        #expect(try await rig.reason() == "ModemManager is not running")
        #expect(rig.log.contents.allSatisfy { $0.hasPrefix("source modem: ") })
    }

    @Test func `a modem that refuses is asked again`() async throws {
        let rig = try await Rig()
        let manager = try await MockModemManager(rig.bus)
        let modem = manager.add(0, capabilities: 4)
        modem.refusal = DBusError(
            "org.freedesktop.ModemManager1.Error.Core.WrongState",
            "not enabled"
        )
        rig.start()
        let reason = try await rig.reason()
        #expect(reason == "the modem does not tell its place: not enabled")
        try await eventually("another attempt is awaited") { rig.clock.isAwaited }
        rig.clock.advance(by: .seconds(10))
        try await eventually("another attempt is awaited") { rig.clock.isAwaited }
        modem.refusal = nil
        rig.clock.advance(by: .seconds(10))
        #expect(try await modem.setups.next() == ["4", "true"])
        #expect(try await rig.events.next() == .available)
        // It is said once that it does not go, and once that it does.
        #expect(rig.log.contents.count == 2)
    }

    @Test func `a source that is stopped in the middle leaves the modem as it was`() async throws {
        let rig = try await Rig()
        let manager = try await MockModemManager(rig.bus)
        let modem = manager.add(0, capabilities: 4, enabled: 0)
        rig.start()
        _ = try await modem.setups.next()
        rig.source.stop()
        #expect(try await modem.setups.next() == ["0", "false"])
        modem.tell(4, .string(Self.track.sentences(0)))
        #expect(!rig.clock.isAwaited && rig.events.contents.isEmpty)
        // And it can be started again.
        rig.start()
        #expect(try await modem.setups.next() == ["4", "true"])
        modem.tell(4, .string(Self.track.sentences(1)))
        // What it knew when it was set up may be told first.
        var fix = try await rig.fix()
        if fix.timestamp == Self.track.time(of: 0) { fix = try await rig.fix() }
        #expect(fix.timestamp == Self.track.time(of: 1))
    }
}
