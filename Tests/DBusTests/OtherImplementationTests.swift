// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import Fuzzing
import Glibc
import TestKit
import Testing

/// Random messages between this implementation and dbus-python, which shares no code of encoding
/// above libdbus, and a few values by gdbus, which shares none at all.
@Suite @LoopActor struct OtherImplementationTests {
    @Test(.enabled(if: PythonPeer.isInstalled, "skipped: python3-dbus is not installed"))
    func `dbus-python reads and returns whatever this side sends`() async throws {
        let bus = try await PrivateBus.start()
        let client = try await bus.connect()
        let peer = try PythonPeer.start("echo", on: bus)
        let line = try await peer.line(containing: "serving as ")
        let name = BusName(unchecked: String(line.dropFirst("serving as ".count)))
        for seed in [11, 12] as [UInt64] {
            var generator = ValueGenerator(seed: seed)
            // Python's dictionaries are tables.
            generator.hasUniqueKeys = true
            await DynamicEcho.exchange(500, generator, seed: seed, with: name, from: client)
        }
        #expect(client.isOpen)
    }

    @Test(.enabled(if: PythonPeer.isInstalled, "skipped: python3-dbus is not installed"))
    func `this side reads and returns whatever dbus-python sends`() async throws {
        let bus = try await PrivateBus.start()
        let service = try await bus.connect()
        DynamicEcho.export(on: service)
        for seed in ["21", "22"] {
            let arguments = ["call", service.uniqueName.string, seed, "500"]
            let peer = try PythonPeer.start(arguments, on: bus)
            #expect(try await peer.waitForExit() == .status(0), "it printed: \(peer.output)")
        }
        #expect(service.isOpen)
    }

    @Test(
        .enabled(if: isInstalled("gdbus"), "skipped: gdbus is not installed"),
        arguments: [
            "<true>", "<byte 0xff>", "<int16 -32768>", "<uint16 65535>", "<-2147483648>",
            "<uint32 4294967295>", "<int64 -9223372036854775808>",
            "<uint64 18446744073709551615>", "<-0.0>", "<inf>", "<2.2250738585072014e-308>", "<''>",
            "<'fünf 🛰'>", "<objectpath '/'>", "<objectpath '/org/example'>", "<signature ''>",
            "<signature 'a{s(ii)}'>", "<@as []>", "<@a{sv} {}>", "<[@ai [], [1], [2, 3]]>",
            "<{'a': <uint32 5>, 'b': <{objectpath '/': uint16 7}>}>",
            "<(byte 0x01, 2.5, ('x', <<<'y'>>>))>",
            "<[(1, 'a'), (2, 'b')]>", "<{byte 0x01: [<1>, <'two'>]}>",
        ]
    )
    func `gdbus reads and returns the same`(text: String) async throws {
        let bus = try await PrivateBus.start()
        let service = try await bus.connect()
        let echo = Interface(
            "org.example.Echo",
            [.method("Value", in: ["value"], out: ["value"]) { (_, value: Value) in value }]
        )
        service.export([echo], at: "/")
        let gdbus = try ChildProcess(
            "gdbus",
            [
                "call", "--session", "--dest", service.uniqueName.string, "--object-path", "/",
                "--method", "org.example.Echo.Value", text,
            ],
            environment: bus.environment
        )
        #expect(try await gdbus.waitForExit() == .status(0))
        #expect(gdbus.output == "(\(text),)\n")
    }
}

/// The program of Python that stands beside this file.
@LoopActor enum PythonPeer {
    private nonisolated static let python = "/usr/bin/python3"

    /// Whether Debian's Python has what the program needs.
    nonisolated static let isInstalled =
        system("\(python) -c 'import dbus.mainloop.glib' 2>/dev/null") == 0

    /// Starts the program.
    static func start(_ arguments: String..., on bus: PrivateBus) throws -> ChildProcess {
        try start(arguments, on: bus)
    }

    /// Starts the program.
    static func start(_ arguments: [String], on bus: PrivateBus) throws -> ChildProcess {
        let program = #filePath.split(separator: "/").dropLast().map { "/\($0)" }.joined()
        return try ChildProcess(
            python,
            // Without files of compiled code among the sources.
            ["-B", "\(program)/peer.py"] + arguments,
            environment: bus.environment
        )
    }
}
