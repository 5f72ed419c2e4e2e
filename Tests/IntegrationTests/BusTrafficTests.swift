// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import Geo
import Glibc
import Interfaces
import TestKit
import Testing

/// What other location services put their buses and their programs through, and this one must not:
/// floods, stale properties, programs that stop reading, calls that wait for a receiver.
@Suite @LoopActor struct BusTrafficTests {
    /// What a monitor sees on the bus from the daemon, as `INTERFACE.MEMBER destination`.
    @LoopActor private struct Monitor {
        let process: ChildProcess

        init(_ bus: PrivateBus) async throws {
            process = try ChildProcess("dbus-monitor", ["--address", bus.address])
            // From the signal that ends the monitor's own life as a peer on, it sees everything.
            try await process.line(containing: "member=NameLost")
        }

        /// The signals of a name so far, by destination.
        func signals(_ member: String) -> [String: Int] {
            var counts: [String: Int] = [:]
            for line in process.output.split(separator: "\n")
            where line.hasPrefix("signal") && line.hasSuffix("member=\(member)") {
                let words = line.split(whereSeparator: { " =".contains($0) })
                guard let index = words.firstIndex(of: "destination") else { continue }
                counts[String(words[index + 1]), default: 0] += 1
            }
            return counts
        }

        /// Comes back when the monitor has printed all that was sent before.
        func settle(_ program: Program, _ mark: String) async throws {
            let signal = Signal<String>("Mark", of: "org.example.Mark", arguments: ["mark"])
            try program.connection.emit(signal, from: "/", mark)
            try await process.line(containing: mark)
        }
    }

    @Test func `one fix is one signal for each program that wants it, and no change of properties`()
        async throws
    {
        let rig = try await Rig()
        var programs: [Program] = []
        for _ in 0..<5 {
            programs.append(try await rig.program())
            try await programs.last?.service.call("Start")
        }
        _ = try await rig.feed.connections.next("the source's start")
        rig.play(0..<2)
        for program in programs { _ = try await program.location() }
        let monitor = try await Monitor(rig.bus)
        for second in 2..<12 {
            rig.play(second..<second + 1)
            for program in programs { _ = try await program.location() }
        }
        try await monitor.settle(programs[0], "the end of the walk")
        let told = monitor.signals("LocationUpdated")
        #expect(Set(told.keys) == Set(programs.map(\.connection.uniqueName.string)))
        #expect(told.values.allSatisfy { $0 == 10 })
        #expect(monitor.signals("PropertiesChanged").isEmpty)
    }

    @Test func `a receiver's jitter below the filter is not told`() async throws {
        let rig = try await Rig()
        let program = try await rig.program()
        let session = try await program.session(["distance-filter": 1000.0])
        try await session.call("Start")
        _ = try await rig.feed.connections.next("the source's start")
        // Sixty epochs, twenty metres to and fro.
        for second in 0..<60 {
            let shaken = NMEATrack(
                start: Rig.track.time(of: second),
                latitude: Rig.track.latitude + (second % 2 == 0 ? 0.00018 : 0),
                longitude: Rig.track.longitude,
                step: 0,
                hasGSA: true
            )
            rig.feed.send(shaken.sentences(0))
        }
        // What is told next is out of the jitter: all of it has been read by then.
        let far = NMEATrack(
            start: Rig.track.time(of: 60),
            latitude: Rig.track.latitude + 0.02,
            longitude: Rig.track.longitude,
            hasGSA: true
        )
        rig.feed.send(far.sentences(0) + far.sentences(1))
        #expect(try await program.location().fix.coordinate.latitude < 48.21)
        #expect(try await program.location().fix.coordinate.latitude > 48.22)
    }

    @Test func `programs that want a location a second are not told ten`() async throws {
        let rig = try await Rig()
        var programs: [Program] = []
        for _ in 0..<20 {
            let program = try await rig.program()
            let session = try await program.session(["minimum-interval": .uint32(3_600_000)])
            try await session.call("Start")
            programs.append(program)
        }
        _ = try await rig.feed.connections.next("the source's start")
        let eager = try await rig.program()
        try await eager.service.call("Start")
        rig.play(0..<101)
        // The eager one has had the last: so many have been read.
        _ = try await eager.news.next("the hundredth") {
            if case .location(let location) = $0 {
                location.fix.timestamp >= Rig.track.time(of: 99)
            } else {
                false
            }
        }
        for program in programs {
            try await program.settle()
            let told = program.news.contents.filter {
                if case .location = $0 { true } else { false }
            }
            #expect(told.count == 1)
        }
    }

    @Test func `options hold in whatever order they are set, before and after Start`() async throws
    {
        let rig = try await Rig()
        let program = try await rig.program()
        let steps = ["accuracy", "filter", "interval", "start"]
        var orders: [[String]] = [[]]
        for _ in steps {
            orders = orders.flatMap { order in
                steps.filter { !order.contains($0) }.map { order + [$0] }
            }
        }
        #expect(orders.count == 24)
        for order in orders {
            let session = try await program.session()
            for step in order + ["stop", "start"] {
                switch step {
                case "accuracy": try await session.set("DesiredAccuracy", to: "kilometer")
                case "filter": try await session.set("DistanceFilter", to: 12.5)
                case "interval": try await session.set("MinimumInterval", to: UInt32(1500))
                case "start": try await session.call("Start")
                default: try await session.call("Stop")
                }
            }
            let options = try await session.getAll()
            #expect(options["DesiredAccuracy"] == "kilometer")
            #expect(options["DistanceFilter"] == 12.5)
            #expect(options["MinimumInterval"] == .uint32(1500))
            #expect(options["Active"] == true)
            try await session.call("Close")
        }
    }

    @Test func `a session tells its owner of its properties' changes`() async throws {
        let rig = try await Rig()
        let program = try await rig.program()
        let session = try await program.session()
        let properties = try await session.cachedProperties()
        #expect(properties["Active"] == false)
        try await session.call("Start")
        try await eventually("the start is told") { properties["Active"] == true }
        try await session.set("DistanceFilter", to: 7.0)
        try await eventually("the filter is told") { properties["DistanceFilter"] == 7.0 }
        try await session.call("Stop")
        try await eventually("the stop is told") { properties["Active"] == false }
    }

    @Test func `no call waits for a receiver that does not answer`() async throws {
        let bus = try await PrivateBus.start()
        // Its queue takes the connection, and nobody ever takes it off the queue.
        let deaf = try LineServer(.tcp, accepts: false)
        let daemon = try await DaemonUnderTest.start(
            on: bus,
            configuration: Rig.source(deaf) + Rig.everybody
        )
        let program = try await Program(try await bus.connect())
        let session = try await program.session()
        try await session.call("Start", timeout: .seconds(10))
        try await program.service.call("Start", timeout: .seconds(10))
        let status = try await program.service.call("GetAuthorization", timeout: .seconds(10))
        #expect(try status.results(String.self) == "always")
        #expect(try await program.service.get("InUse") == true)
        try await program.service.call("Stop", timeout: .seconds(10))
        try await session.call("Close", timeout: .seconds(10))
        try await daemon.stop()
    }

    @Test func `a program that stops reading holds up nobody, and the daemon does not grow`()
        async throws
    {
        let bus = try await PrivateBus.start(limits: ["max_outgoing_bytes": 500_000])
        let feed = try LineServer(.tcp)
        let daemon = try await DaemonUnderTest.start(
            on: bus,
            configuration: Rig.source(feed) + Rig.everybody
        )
        let stopped = try ChildProcess(
            try builtProgram("waymark"),
            ["--bus", bus.address, "monitor"]
        )
        let program = try await Program(try await bus.connect())
        try await program.service.call("Start")
        _ = try await feed.connections.next("the source's start")
        feed.send(Rig.track.sentences(0..<3))
        try await stopped.line(containing: "48.2")
        func play(_ seconds: Range<Int>) async throws {
            for start in stride(from: seconds.lowerBound, to: seconds.upperBound, by: 50) {
                feed.send(Rig.track.sentences(start..<start + 50))
                let last = Rig.track.time(of: start + 48)
                _ = try await program.news.next("epoch \(start + 48)") {
                    if case .location(let location) = $0 {
                        location.fix.timestamp >= last
                    } else {
                        false
                    }
                }
            }
        }
        stopped.signal(SIGSTOP)
        // More than the bus keeps for anybody: a location is some four hundred bytes.
        try await play(10..<2010)
        let before = try residentKilobytes(of: daemon.process.id)
        try await play(2010..<6010)
        let after = try residentKilobytes(of: daemon.process.id)
        if !isSanitized { #expect(after - before < 1024) }
        stopped.signal(SIGCONT)
        // It goes on with what there is by then.
        try await play(6010..<6060)
        #expect(stopped.exit == nil)
        stopped.signal(SIGKILL)
        try await daemon.stop()
    }
}
