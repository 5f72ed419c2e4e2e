// SPDX-License-Identifier: Apache-2.0

import CLinux
import EventLoop
import Geo
import Glibc
import TestKit
import Testing

@testable import Positioning

/// Serial lines, played by pseudo-terminals.
///
/// What those cannot show, no test does: whether bytes come through at a rate (a test sends noise
/// as long as the rate is another), and whether an adapter tells by an error or by an end that it
/// was pulled out (a pseudo-terminal ends).
@Suite(.timeLimit(.minutes(1))) @LoopActor struct SerialSourceTests {
    private let folder: TemporaryFolder
    private let track = NMEATrack()

    init() throws {
        folder = try TemporaryFolder()
    }

    /// The name that a receiver has wherever it is plugged in, as udev makes it.
    private var name: String { "\(folder.path)/gps" }

    private func plug(_ terminal: PseudoTerminal) throws {
        unlink(name)
        try retryingOnInterrupt("link \(name)") { symlink(terminal.path, name) }
    }

    private func plugged() throws -> PseudoTerminal {
        let terminal = try PseudoTerminal()
        try plug(terminal)
        return terminal
    }

    private func rig(baud: Int? = 9600) -> SourceRig {
        SourceRig(.nmeaSerial(path: name, baud: baud))
    }

    /// Waits until a source listens at a line: it measures how long it does.
    private func opened(_ terminal: PseudoTerminal, by rig: SourceRig) async throws {
        try await eventually("the line to be set up") {
            try rig.clock.isAwaited && terminal.isHeld() && terminal.isRaw
        }
    }

    private func released(_ terminal: PseudoTerminal) async throws {
        try await eventually("the line to be given back") { try !terminal.isHeld() }
    }

    private func fix(_ rig: SourceRig, of epoch: Int) async throws {
        let fix = try await rig.fix()
        #expect(abs(fix.coordinate.latitude - track.latitude(of: epoch)) < 1e-6)
        #expect(fix.timestamp == track.time(of: epoch))
    }

    @Test(arguments: [4800, 38400, 460_800])
    func `a line is set to its rate, and its sentences become fixes`(baud: Int) async throws {
        let terminal = try plugged()
        let rig = rig(baud: baud)
        rig.start()
        try await opened(terminal, by: rig)
        #expect(terminal.rate == baud)
        terminal.send(track.sentences(0..<3))
        for epoch in 0..<3 { try await fix(rig, of: epoch) }
        #expect(rig.log.isEmpty)
        #expect(rig.events.contents.isEmpty)
    }

    @Test func `bytes pass as they are, in pieces and with noise between`() async throws {
        let terminal = try plugged()
        let rig = rig()
        rig.start()
        try await opened(terminal, by: rig)
        // What a terminal would take for the keys to interrupt, stop or end.
        terminal.send([3, 4, 17, 19, 26, 28, 0, 255, 13, 127])
        for byte in Array(track.sentences(0..<2).utf8) {
            terminal.send([byte])
            await turns(2)
        }
        try await fix(rig, of: 0)
        try await fix(rig, of: 1)
    }

    @Test func `a rate that nobody has told is found out, and remembered`() async throws {
        let terminal = try plugged()
        let rig = rig(baud: nil)
        rig.start()
        try await opened(terminal, by: rig)
        var epoch = 0
        func talk() {
            if terminal.rate == 115_200 {
                terminal.send(track.sentences(epoch))
            } else {
                terminal.send([0xF8, 0x00, 0x24, 0x78, 0x2A, 0xE6])
            }
            epoch += 1
            rig.clock.advance(by: .milliseconds(500))
        }
        try await eventually("a fix") {
            talk()
            return !rig.events.contents.isEmpty
        }
        _ = try await rig.fix()
        #expect(rig.log == ["source receiver: \(name) sends NMEA at 115200 baud"])
        #expect(terminal.rate == 115_200)
        rig.source.stop()
        try await released(terminal)
        let known = rig.events.contents.count
        rig.start()
        try await opened(terminal, by: rig)
        try await eventually("a fix") {
            #expect(terminal.rate == 115_200)
            talk()
            return rig.events.contents.count > known
        }
        #expect(rig.log.count == 1)
    }

    @Test func `a line that is silent or full of noise is told once`() async throws {
        let terminal = try plugged()
        let rig = rig()
        rig.start()
        try await opened(terminal, by: rig)
        rig.clock.advance(by: .seconds(15))
        #expect(try await rig.unavailable() == "\(name) sends nothing")
        for pause in [0.5, 1] {
            try await released(terminal)
            rig.clock.advance(by: .seconds(pause))
            try await opened(terminal, by: rig)
            try await eventually("an end of patience") {
                terminal.send([0xF8, 0x00, 0x24])
                rig.clock.advance(by: .milliseconds(250))
                return !rig.events.contents.isEmpty
            }
            #expect(try await rig.unavailable() == "\(name) sends no NMEA at 9600 baud")
        }
        #expect(rig.log == ["source receiver: \(name) sends nothing; trying again"])
    }

    @Test func `a receiver that is pulled out and put in again is found`() async throws {
        let terminal = try plugged()
        let rig = rig()
        rig.start()
        try await opened(terminal, by: rig)
        terminal.send(track.sentences(0..<2))
        try await fix(rig, of: 0)
        try await fix(rig, of: 1)
        unlink(name)
        terminal.unplug()
        #expect(try await rig.unavailable() == "\(name) was unplugged")
        try await released(terminal)
        let missing = "cannot open \(name): there is no such device; is the receiver plugged in?"
        for pause in [0.5, 1, 2, 4, 8, 10, 10] {
            rig.clock.advance(by: .seconds(pause))
            #expect(try await rig.unavailable() == missing)
        }
        let back = try plugged()
        rig.clock.advance(by: .seconds(10))
        try await opened(back, by: rig)
        back.send(track.sentences(2..<4))
        try await fix(rig, of: 2)
        try await fix(rig, of: 3)
        #expect(
            rig.log == [
                "source receiver: \(name) was unplugged; trying again",
                "source receiver: \(name) is back",
            ]
        )
    }

    @Test func `a device that is missing, or is no serial line, is explained once`() async throws {
        let rig = rig()
        rig.start()
        let missing = "cannot open \(name): there is no such device; is the receiver plugged in?"
        #expect(try await rig.unavailable() == missing)
        rig.clock.advance(by: .milliseconds(500))
        #expect(try await rig.unavailable() == missing)
        #expect(rig.log == ["source receiver: \(missing); trying again"])
        try folder.write("gps", track.sentences(0))
        rig.clock.advance(by: .seconds(1))
        #expect(try await rig.unavailable() == "\(name) is no serial line")
        for path in ["/dev/null", "/dev/zero", folder.path] {
            let other = SourceRig(.nmeaSerial(path: path, baud: nil))
            other.start()
            #expect(try await other.unavailable() == "\(path) is no serial line")
        }
    }

    @Test func `a line that another program has is left to it`() async throws {
        let terminal = try plugged()
        let sentence = "cannot open \(name): another program has it, such as gpsd or ModemManager"
        let rig = rig()
        var other: Descriptor? = try Descriptor("open \(name)") {
            open(name, O_RDONLY | O_NOCTTY | O_CLOEXEC)
        }
        #expect(clinux_set_exclusive(other?.number ?? -1, 1) == 0)
        rig.start()
        #expect(try await rig.unavailable() == sentence)
        // Root may open it all the same, and has to ask.
        #expect(clinux_set_exclusive(other?.number ?? -1, 0) == 0)
        #expect(flock(other?.number ?? -1, LOCK_EX) == 0)
        rig.clock.advance(by: .milliseconds(500))
        #expect(try await rig.unavailable() == sentence)
        other = nil
        rig.clock.advance(by: .seconds(1))
        try await opened(terminal, by: rig)
        #expect(rig.log == ["source receiver: \(sentence); trying again"])
    }

    @Test func `nobody else gets a line that is listened to`() async throws {
        let terminal = try plugged()
        let rig = rig()
        rig.start()
        try await opened(terminal, by: rig)
        let second = SourceRig(.nmeaSerial(path: name, baud: 9600))
        second.start()
        #expect(try await second.unavailable().hasSuffix("such as gpsd or ModemManager"))
    }

    @Test func `a stop gives the line back, in whatever state it is`() async throws {
        let terminal = try plugged()
        let rig = rig()
        rig.start()
        rig.source.stop()
        try await released(terminal)
        #expect(!rig.clock.isAwaited)
        rig.start()
        try await opened(terminal, by: rig)
        rig.source.stop()
        // At once again: it is not busy with itself.
        rig.start()
        try await opened(terminal, by: rig)
        terminal.send(track.sentences(0..<2))
        try await fix(rig, of: 0)
        try await fix(rig, of: 1)
        rig.source.stop()
        try await released(terminal)
        #expect(!rig.clock.isAwaited)
        #expect(rig.events.contents.isEmpty)
        #expect(rig.log.isEmpty)
    }

    @Test func `a stop from within a fix is the last that is heard`() async throws {
        let terminal = try plugged()
        let rig = rig()
        rig.onEvent = { [source = rig.source] _ in source.stop() }
        rig.start()
        try await opened(terminal, by: rig)
        terminal.send(track.sentences(0..<5))
        try await fix(rig, of: 0)
        try await released(terminal)
        #expect(rig.events.contents.isEmpty)
        #expect(!rig.clock.isAwaited)
    }

    @Test func `who may not open a device is told which group may`() throws {
        func explain(mode: mode_t) throws -> String {
            let file = try folder.write("device", "")
            chmod(file, mode)
            let error = SystemError(code: EACCES, operation: "open \(file)")
            return SerialDevice.explanation(of: error, path: file).description
                .replacing(file, with: "DEVICE")
        }
        // Whoever runs the test owns the file, and has a group of his own.
        let user = getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) } ?? "?"
        let group = getgrgid(getegid()).map { String(cString: $0.pointee.gr_name) } ?? "?"
        #expect(
            try explain(mode: 0o660)
                == "cannot open DEVICE: only the group \(group) may, and \(user) is not in it;"
                + " as root, “usermod --append --groups \(group) \(user)” and a restart change that"
        )
        #expect(try explain(mode: 0o600) == "cannot open DEVICE: only its owner \(user) may")
    }
}
