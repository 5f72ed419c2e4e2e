// SPDX-License-Identifier: Apache-2.0

import EventLoop
import TestKit
import Testing

@Suite @LoopActor struct ConfigurationFileTests {
    private static let file = "data/waymark.conf"

    /// The examples: lines with a comment sign and no blank behind it.
    private static func isExample(_ line: Substring) -> Bool {
        line.hasPrefix("#") && line.count > 1 && !line.hasPrefix("# ")
    }

    @Test func `the default configuration is accepted, and decides nothing`() async throws {
        let text = try ProjectFiles.text(Self.file)
        #expect(text.split(separator: "\n").allSatisfy { $0.hasPrefix("#") })
        let bus = try await PrivateBus.start()
        let daemon = try await DaemonUnderTest.start(on: bus, configuration: text)
        #expect(try await daemon.stop() == .status(0), "\(daemon.log)")
    }

    @Test func `its examples are a legal configuration with every section and key`() async throws {
        let examples = try ProjectFiles.text(Self.file).split(separator: "\n")
            .filter(Self.isExample).map { $0.dropFirst() }
        for line in examples {
            #expect(line.hasPrefix("[") || line.contains(" = "), "\(line)")
        }
        for key in ["type", "address", "authorization", "accuracy", "users"] {
            #expect(examples.contains { $0.hasPrefix("\(key) = ") }, "no example of \(key)")
        }
        #expect(examples.contains { $0.hasPrefix("[source.") })
        #expect(examples.contains("[program.*]"))
        let bus = try await PrivateBus.start()
        let daemon = try await DaemonUnderTest.start(
            on: bus,
            configuration: examples.joined(separator: "\n") + "\n"
        )
        #expect(try await daemon.stop() == .status(0), "\(daemon.log)")
    }

    @Test func `a key that does not exist keeps the daemon from starting`() async throws {
        let folder = try TemporaryFolder()
        let bus = try await PrivateBus.start()
        let file = try folder.write("waymark.conf", "[source.here]\ntype = gpsd\ncolour = red\n")
        let daemon = try ChildProcess(
            try builtProgram("waymarkd"),
            ["--bus", bus.address, "--config", file]
        )
        // EX_CONFIG, for which the unit does not try again.
        #expect(try await daemon.waitForExit() == .status(78))
        #expect(daemon.output.contains("\(file):3:"), "\(daemon.output)")
        let exits = try ProjectFiles.values(
            of: "RestartPreventExitStatus",
            in: "data/waymark.service"
        )
        #expect(exits == ["64 78"])
    }
}
