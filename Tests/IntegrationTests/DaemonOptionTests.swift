// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import Glibc
import TestKit
import Testing

/// The command line and the configuration as the real program takes them.
@Suite @LoopActor struct DaemonOptionTests {
    private func run(_ arguments: [String]) async throws -> (ChildProcess.Exit, String) {
        let child = try ChildProcess(try builtProgram("waymarkd"), arguments)
        return (try await child.waitForExit(), child.output)
    }

    /// glibc's parser ends the process by itself, in the middle of a call, which the thread
    /// sanitizer takes amiss.
    private nonisolated static let parserMayEnd = ConditionTrait.enabled(
        if: !isThreadSanitized,
        "the thread sanitizer does not let argp end the process"
    )

    @Test(parserMayEnd) func `it tells its version and its options`() async throws {
        let (exit, version) = try await run(["--version"])
        #expect(exit == .status(0))
        #expect(version == "waymarkd 0.1.0\n")
        let (_, help) = try await run(["--help"])
        for option in ["--bus", "--config", "--state", "--source", "--decode", "--verbose"] {
            #expect(help.contains(option))
        }
    }

    @Test(arguments: [
        (["nonsense"], "“nonsense” is no option"),
        (["--bus", "nowhere"], "use system, session, or an address such as unix:path=/run/bus"),
        (["--source", "gps"], "“gps” is no type of source: use gpsd, nmea, modem or static"),
        (["--source", "nmea:serial:/dev/ttyACM0@fast"], "baud rate “fast” is none of 1200, 2400,"),
        (["--source", "static:91,0,5"], "needs a latitude from -90 to 90"),
    ])
    func `a mistake on the command line is told, with what is allowed`(
        row: ([String], String)
    ) async throws {
        let (exit, output) = try await run(row.0)
        #expect(exit == .status(64))
        #expect(output.contains(row.1), "\(output)")
    }

    @Test(parserMayEnd) func `an option that does not exist is told`() async throws {
        let (exit, output) = try await run(["--nonsense"])
        #expect(exit == .status(64))
        #expect(output.contains("unrecognized option"))
    }

    @Test func `a mistake in the configuration is told with file and line`() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("w.conf", "[source.a]\ntype = gpsd\nhost = x\n")
        let (exit, output) = try await run(["--bus", "unix:path=/nonexistent", "--config", file])
        #expect(exit == .status(78))
        #expect(
            output
                == "waymarkd: \(file):3: [source.a] has no key “host”:"
                + " allowed are type, address\n"
        )
    }

    @Test func `a bus that is not there is told`() async throws {
        let (exit, output) = try await run(["--bus", "unix:path=/nonexistent/bus"])
        #expect(exit == .status(1))
        #expect(output.hasPrefix("waymarkd: cannot connect to the bus: "), "\(output)")
    }

    @Test func `a folder of --state that cannot be used is told`() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("file", "")
        let (exit, output) = try await run(["--bus", "unix:path=/nonexistent", "--state", file])
        #expect(exit == .status(1))
        #expect(output.contains("cannot use the folder of --state, \(file): Not a directory"))
    }

    @Test func `a configuration that becomes wrong leaves the old one in force`() async throws {
        let rig = try await Rig()
        try rig.daemon.folder.write("waymark.conf", "[program.*]\nauthorization = maybe\n")
        rig.daemon.process.signal(SIGHUP)
        try await rig.daemon.process.line(containing: "that was read before still holds")
        let program = try await rig.program()
        let status = try await program.service.call("GetAuthorization").results(String.self)
        #expect(status == "always")
    }

    @Test func `it decodes a recording, a fix a line`() async throws {
        let folder = try TemporaryFolder()
        let text = Rig.track.sentences(0..<3) + Rig.track.voidSentences(3)
        let file = try folder.write("track.nmea", text)
        let (exit, output) = try await run(["--decode", file])
        #expect(exit == .status(0))
        let lines = output.split(separator: "\n")
        #expect(lines.count == 3)
        let head = #"{"time": "2026-03-01T10:00:00.000Z", "lat": 48.2082, "lon": "#
        #expect(lines.first?.hasPrefix(head) == true, "\(output)")
        let (missing, reason) = try await run(["--decode", "/nonexistent"])
        #expect(missing == .status(1))
        #expect(reason == "waymarkd: cannot open /nonexistent: No such file or directory\n")
    }

    @Test func `a static source is one location for all`() async throws {
        let bus = try await PrivateBus.start()
        let daemon = try await DaemonUnderTest.start(
            on: bus,
            configuration: Rig.everybody,
            arguments: ["--source", "static:48.2,16.3,25"]
        )
        let tool = try ChildProcess(try builtProgram("waymark"), ["--bus", bus.address, "where"])
        let line = try await tool.line(containing: "static")
        #expect(line.contains("48.200000 16.300000  ±25.0 m"))
        #expect(try await tool.waitForExit() == .status(0))
        try await daemon.stop()
    }
}
