// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Geo
import Positioning
import TestKit
import Testing

/// Sources of NMEA at a real server, over both kinds of socket.
@Suite @LoopActor struct NMEASourceTests {
    enum Transport: CaseIterable, Sendable {
        case unix
        case tcp
    }

    /// A server and a source that is to reach it.
    @LoopActor final class Rig {
        let folder: TemporaryFolder
        let server: LineServer
        let source: SourceRig
        let track = NMEATrack()
        var clock: ManualTimekeeper { source.clock }

        init(_ transport: Transport, accepts: Bool = true, backlog: CInt = 16) throws {
            folder = try TemporaryFolder()
            let path = "\(folder.path)/gps"
            let place = transport == .tcp ? LineServer.Place.tcp : .unix(path)
            server = try LineServer(place, accepts: accepts, backlog: backlog)
            source = SourceRig(
                .nmea(
                    transport == .tcp ? .tcp(host: "127.0.0.1", port: server.port) : .unix(path)
                )
            )
        }

        /// Starts the source and waits until the server has it.
        func connect() async throws {
            source.start()
            _ = try await server.connections.next("a connection")
        }

        /// Waits for the fix of an epoch after which the server is silent.
        func fixAfterSilence(of epoch: Int) async throws {
            try await eventually("the wait for more") { clock.isAwaited }
            clock.advance(by: .milliseconds(100))
            try await fix(of: epoch)
        }

        /// Waits for the fix of an epoch that the server has sent.
        func fix(of epoch: Int) async throws {
            let fix = try await source.fix()
            #expect(abs(fix.coordinate.latitude - track.latitude(of: epoch)) < 1e-6)
            #expect(fix.timestamp == track.time(of: epoch))
        }
    }

    @Test(arguments: Transport.allCases)
    func `fixes arrive, each once`(transport: Transport) async throws {
        let rig = try Rig(transport)
        try await rig.connect()
        rig.server.send(rig.track.sentences(0..<3))
        for epoch in 0..<2 { try await rig.fix(of: epoch) }
        // Only after the second epoch is it known which sentence comes last.
        try await rig.fix(of: 2)
        rig.server.send(rig.track.sentences(3))
        try await rig.fix(of: 3)
        #expect(rig.source.events.contents.isEmpty)
        #expect(rig.source.log.isEmpty)
    }

    @Test func `a fix tells all that the receiver does`() async throws {
        let rig = try Rig(.tcp)
        try await rig.connect()
        rig.server.send(rig.track.sentences(0..<2))
        let fix = try await rig.source.fix()
        #expect(abs(fix.coordinate.longitude - 11.5) < 1e-6)
        #expect(fix.altitude == 520)
        #expect(fix.course == 0)
        #expect(fix.speed.map { abs($0 - 0.977) < 0.001 } == true)
        #expect(fix.horizontalAccuracy > 0)
        #expect(fix.source == "nmea")
        #expect(!fix.isSimulated)
    }

    @Test func `a sole epoch is told after a moment of silence`() async throws {
        let rig = try Rig(.tcp)
        try await rig.connect()
        rig.server.send(rig.track.sentences(0))
        try await eventually("the wait for more") { rig.clock.isAwaited }
        #expect(rig.source.events.contents.isEmpty)
        rig.clock.advance(by: .milliseconds(99))
        #expect(rig.source.events.contents.isEmpty)
        rig.clock.advance(by: .milliseconds(1))
        try await rig.fix(of: 0)
        #expect(!rig.clock.isAwaited)
    }

    @Test func `sentences cut anywhere are whole again`() async throws {
        let rig = try Rig(.unix)
        try await rig.connect()
        for byte in Array(rig.track.sentences(0..<2).utf8) {
            rig.server.send([byte])
            await turns(2)
        }
        try await rig.fix(of: 0)
    }

    @Test func `void sentences and noise give no fix`() async throws {
        let rig = try Rig(.tcp)
        try await rig.connect()
        for epoch in 0..<3 { rig.server.send(rig.track.voidSentences(epoch)) }
        rig.server.send("$GNGGA,051033.85,,,,,0,00,9999.0,,,,,,*41\r\n")
        rig.server.send([0, 255, 36, 36, 10] + Array("$GPGGA,nonsense*00\r\n".utf8))
        rig.server.send(rig.track.sentences(10..<12))
        try await rig.fix(of: 10)
    }

    @Test(arguments: Transport.allCases)
    func `a server that goes is told once, and its return brings fixes`(
        transport: Transport
    ) async throws {
        let rig = try Rig(transport)
        try await rig.connect()
        rig.server.send(rig.track.sentences(0..<2))
        try await rig.fix(of: 0)
        try await rig.fix(of: 1)
        rig.server.closeAll()
        #expect(try await rig.source.unavailable().hasSuffix("has closed the connection"))
        #expect(rig.source.events.contents.isEmpty)
        rig.clock.advance(by: .milliseconds(499))
        await turns()
        #expect(rig.server.acceptedCount == 1)
        rig.clock.advance(by: .milliseconds(1))
        _ = try await rig.server.connections.next("a second connection")
        rig.server.send(rig.track.sentences(2..<4))
        try await rig.fix(of: 2)
        #expect(rig.source.log.count == 2)
        #expect(rig.source.log.first?.hasSuffix("has closed the connection; trying again") == true)
        #expect(rig.source.log.last?.hasSuffix("is back") == true)
        for line in rig.source.log {
            #expect(line.hasPrefix("source receiver: "))
            // A port and the name of a temporary folder may have any digits.
            let text = line.replacing(":\(rig.server.port)", with: "")
                .replacing(rig.folder.path, with: "")
            #expect(!text.contains("$") && !text.contains("48") && !text.contains("11.5"))
        }
    }

    @Test func `what one connection began, the next does not end`() async throws {
        let rig = try Rig(.tcp)
        try await rig.connect()
        let text = rig.track.sentences(0)
        let half = text.prefix(30)
        rig.server.send(String(half))
        await turns()
        rig.server.closeAll()
        try await rig.source.unavailable()
        rig.clock.advance(by: .milliseconds(500))
        _ = try await rig.server.connections.next("a second connection")
        rig.server.send(String(text.dropFirst(30)))
        rig.server.send(rig.track.sentences(5..<7))
        // Of epoch 0 the second connection has told the RMC alone.
        let first = try await rig.source.fix()
        #expect(first.timestamp == rig.track.time(of: 0))
        #expect(first.altitude == nil)
    }

    @Test(arguments: Transport.allCases)
    func `a server that hangs up at once is tried with growing pauses`(
        transport: Transport
    ) async throws {
        let rig = try Rig(transport)
        rig.server.hangsUp = true
        try await rig.connect()
        try await rig.source.unavailable()
        for (index, pause) in [0.5, 1, 2, 4, 8, 10, 10, 10].enumerated() {
            rig.clock.advance(by: .seconds(pause) - .milliseconds(1))
            await turns()
            #expect(rig.server.acceptedCount == index + 1)
            rig.clock.advance(by: .milliseconds(1))
            _ = try await rig.server.connections.next("attempt \(index + 2)")
            try await rig.source.unavailable()
        }
        #expect(rig.source.log.count == 1)
    }

    @Test(arguments: Transport.allCases)
    func `a server that greets and hangs up is tried every two seconds, and logged once`(
        transport: Transport
    ) async throws {
        let rig = try Rig(transport)
        rig.server.greeting = rig.track.sentences(0)
        rig.server.hangsUp = true
        try await rig.connect()
        try await rig.fix(of: 0)
        try await rig.source.unavailable()
        for (index, pause) in [0.5, 1, 2, 2, 2, 2].enumerated() {
            rig.clock.advance(by: .seconds(pause) - .milliseconds(1))
            await turns()
            #expect(rig.server.acceptedCount == index + 1)
            rig.clock.advance(by: .milliseconds(1))
            _ = try await rig.server.connections.next("attempt \(index + 2)")
            try await rig.fix(of: 0)
            try await rig.source.unavailable()
        }
        #expect(rig.source.log.count == 2)
        rig.server.hangsUp = false
        rig.clock.advance(by: .seconds(2))
        try await rig.fixAfterSilence(of: 0)
        rig.clock.advance(by: .seconds(5))
        rig.server.closeAll()
        try await rig.source.unavailable()
        #expect(rig.source.log.count == 3)
        rig.clock.advance(by: .milliseconds(500))
        try await rig.fixAfterSilence(of: 0)
        #expect(rig.source.log.count == 4)
    }

    @Test(arguments: Transport.allCases)
    func `a server that refuses is tried until it is there`(transport: Transport) async throws {
        let rig = try Rig(transport)
        rig.server.stopListening()
        rig.source.start()
        let reason = try await rig.source.unavailable()
        #expect(reason.hasPrefix("cannot connect to "))
        let why = transport == .tcp ? ": Connection refused" : ": No such file or directory"
        #expect(reason.hasSuffix(why))
        for pause in [0.5, 1, 2, 4, 8, 10, 10, 10, 10, 10] {
            rig.clock.advance(by: .seconds(pause))
            try await rig.source.unavailable()
        }
        try rig.server.listen()
        rig.clock.advance(by: .seconds(10))
        _ = try await rig.server.connections.next("a connection")
        rig.server.send(rig.track.sentences(0..<2))
        try await rig.fix(of: 0)
        #expect(rig.source.log.count == 2)
    }

    @Test func `a silent server has one connection, however long it is silent`() async throws {
        let rig = try Rig(.tcp)
        try await rig.connect()
        for _ in 0..<30 {
            rig.clock.advance(by: .seconds(10))
            await turns(2)
        }
        #expect(rig.server.acceptedCount == 1)
        #expect(rig.server.openCount == 1)
        #expect(rig.source.events.contents.isEmpty)
        #expect(!rig.clock.isAwaited)
    }

    @Test func `a host that does not exist is told and tried again`() async throws {
        let source = SourceRig(.nmea(.tcp(host: "waymark-test.invalid", port: 1)))
        source.start()
        let reason = try await source.unavailable()
        #expect(reason.hasPrefix("cannot find the host waymark-test.invalid: "))
        #expect(source.clock.isAwaited)
        source.clock.advance(by: .milliseconds(500))
        try await source.unavailable()
        #expect(source.log == ["source receiver: \(reason); trying again"])
    }

    // MARK: Stopping

    @Test(arguments: Transport.allCases)
    func `a stop is seen by the server at once and nothing follows`(
        transport: Transport
    ) async throws {
        let rig = try Rig(transport)
        try await rig.connect()
        rig.server.send(rig.track.sentences(0))
        try await eventually("the wait for more") { rig.clock.isAwaited }
        rig.source.source.stop()
        #expect(try await rig.server.ends.next("the end") == 1)
        #expect(!rig.clock.isAwaited)
        rig.clock.advance(by: .seconds(60))
        await turns()
        #expect(rig.source.events.contents.isEmpty)
        #expect(rig.source.log.isEmpty)
        #expect(rig.server.acceptedCount == 1)
    }

    @Test(arguments: Transport.allCases)
    func `a stop before anything has happened leaves nothing`(transport: Transport) async throws {
        let rig = try Rig(transport)
        rig.source.start()
        rig.source.source.stop()
        await turns()
        #expect(rig.server.openCount == 0)
        #expect(rig.source.events.contents.isEmpty)
        #expect(!rig.clock.isAwaited)
    }

    @Test func `a stop while the server does not answer releases the socket`() async throws {
        // A queue of one that nobody serves: the kernel leaves further attempts without answer.
        let rig = try Rig(.tcp, accepts: false, backlog: 0)
        let others = (0..<3).map { _ in
            SourceRig(.nmea(.tcp(host: "127.0.0.1", port: rig.server.port)))
        }
        for other in others { other.start() }
        try await eventually("an attempt without answer") {
            try socketStates(toPort: rig.server.port).contains("02")
        }
        rig.source.start()
        try await eventually("another") {
            try socketStates(toPort: rig.server.port).count { $0 == "02" } >= 2
        }
        for other in others + [rig.source] { other.source.stop() }
        try await eventually("no attempt") {
            try !socketStates(toPort: rig.server.port).contains("02")
        }
        for other in others + [rig.source] { #expect(other.events.contents.isEmpty) }
    }

    @Test func `a stop while the host is looked up is the end of it`() async throws {
        let source = SourceRig(.nmea(.tcp(host: "waymark-test.invalid", port: 1)))
        source.start()
        await turns(1)
        source.source.stop()
        let before = source.events.contents
        // A second one takes as long as the first at least.
        let other = SourceRig(.nmea(.tcp(host: "waymark-test.invalid", port: 1)))
        other.start()
        try await other.unavailable()
        #expect(source.events.contents == before)
        #expect(!source.clock.isAwaited)
    }

    @Test(arguments: Transport.allCases)
    func `a stop from within a fix is the last that is heard`(transport: Transport) async throws {
        let rig = try Rig(transport)
        rig.source.onEvent = { [source = rig.source.source] _ in source.stop() }
        try await rig.connect()
        rig.server.send(rig.track.sentences(0..<5))
        try await rig.fix(of: 0)
        _ = try await rig.server.ends.next("the end")
        #expect(rig.source.events.contents.isEmpty)
        #expect(!rig.clock.isAwaited)
    }

    @Test func `a stop from within the fix that silence brought is the last`() async throws {
        let rig = try Rig(.tcp)
        rig.source.onEvent = { [source = rig.source.source] _ in source.stop() }
        try await rig.connect()
        rig.server.send(rig.track.sentences(0))
        try await eventually("the wait for more") { rig.clock.isAwaited }
        rig.clock.advance(by: .milliseconds(100))
        try await rig.fix(of: 0)
        _ = try await rig.server.ends.next("the end")
        #expect(!rig.clock.isAwaited)
    }

    @Test func `a stop from within the news of a loss is the last`() async throws {
        let rig = try Rig(.tcp)
        rig.source.onEvent = { [source = rig.source.source] _ in source.stop() }
        rig.server.hangsUp = true
        try await rig.connect()
        try await rig.source.unavailable()
        #expect(!rig.clock.isAwaited)
    }

    @Test func `a new start from within a fix hears nothing of the old connection`() async throws {
        let rig = try Rig(.tcp)
        var restarts = 0
        rig.source.onEvent = { [weak source = rig.source] _ in
            guard restarts == 0 else { return }
            restarts += 1
            source?.source.stop()
            source?.start()
        }
        try await rig.connect()
        rig.server.send(rig.track.sentences(0..<5))
        try await rig.fix(of: 0)
        _ = try await rig.server.connections.next("a second connection")
        rig.server.send(rig.track.sentences(7..<9))
        try await rig.fix(of: 7)
    }

    @Test(arguments: Transport.allCases)
    func `a source can be started again`(transport: Transport) async throws {
        let rig = try Rig(transport)
        for round in 1...3 {
            try await rig.connect()
            rig.server.send(rig.track.sentences(round * 10..<round * 10 + 2))
            try await rig.fix(of: round * 10)
            try await rig.fix(of: round * 10 + 1)
            rig.source.source.stop()
            #expect(try await rig.server.ends.next("the end") == round)
        }
    }

    @Test func `a source that is let go of lets go of its server`() async throws {
        let rig = try Rig(.tcp)
        var other: SourceRig? = SourceRig(.nmea(.tcp(host: "127.0.0.1", port: rig.server.port)))
        other?.start()
        _ = try await rig.server.connections.next("a connection")
        other = nil
        _ = try await rig.server.ends.next("the end")
        #expect(other == nil)
    }
}
