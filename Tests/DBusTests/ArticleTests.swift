// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import Glibc
import TestKit
import Testing

/// The documentation's programs, as they are printed and as they run.
@Suite @LoopActor struct ArticleTests {
    /// The project's folder.
    private static let root = #filePath.split(separator: "/").dropLast(3)
        .reduce("") { "\($0)/\($1)" }

    private nonisolated static let hasLoginMock =
        access("/usr/lib/python3/dist-packages/dbusmock", F_OK) == 0

    @Test func `the article's programs are the example package's`() throws {
        let article = try contents(of: "Sources/DBus/DBus.docc/A-Service-and-a-Client.md")
        for name in ["greeter", "greet"] {
            let program = try contents(of: "Tests/ExamplePackage/Sources/\(name)/main.swift")
            #expect(program.utf8.count > 500)
            #expect(article.contains("```swift\n\(program)```\n"))
        }
    }

    @Test func `the article's service and client talk to each other as it says`() async throws {
        let bus = try await PrivateBus.start()
        let service = try ChildProcess(try builtProgram("greeter"), environment: bus.environment)
        let witness = try await bus.connect()
        try await eventually("the service's name") {
            try await witness.owner(of: "org.example.Greeter") != nil
        }
        for run in 1...2 {
            let client = try ChildProcess(try builtProgram("greet"), environment: bus.environment)
            #expect(try await client.waitForExit() == .status(0))
            #expect(
                client.output == """
                    Hello, world!
                    greeted so far: \(run)
                    world was number \(run)
                    refused: say who is to be greeted

                    """
            )
        }
        let article = try contents(of: "Sources/DBus/DBus.docc/A-Service-and-a-Client.md")
        #expect(article.contains("greeted so far: 1\nworld was number 1\n"))
        bus.process.signal(SIGKILL)
        #expect(try await service.waitForExit() == .status(0))
    }

    @Test func `without a service or a bus the client says so and fails`() async throws {
        let bus = try await PrivateBus.start()
        let lonely = try ChildProcess(try builtProgram("greet"), environment: bus.environment)
        #expect(try await lonely.waitForExit() == .status(1))
        #expect(lonely.output.hasPrefix("greet: org.freedesktop.DBus.Error.ServiceUnknown: "))
        let lost = try ChildProcess(
            try builtProgram("greet"),
            environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent/bus"]
        )
        #expect(try await lost.waitForExit() == .status(1))
        #expect(lost.output.contains("/nonexistent/bus"))
    }

    @Test(.enabled(if: hasLoginMock, "python3-dbusmock is not installed"))
    func `the example talks to a login manager`() async throws {
        let bus = try await PrivateBus.start()
        let mock = try ChildProcess(
            "/usr/bin/python3",
            ["-m", "dbusmock", "--system", "--template", "logind"],
            environment: bus.environment
        )
        let control = Proxy(
            try await bus.connect(),
            destination: "org.freedesktop.login1",
            path: "/org/freedesktop/login1",
            interface: "org.freedesktop.DBus.Mock"
        )
        try await eventually("the mock's name") {
            try await control.connection.owner(of: control.destination) != nil
        }
        for (id, user, isActive) in [("c1", "alice", true), ("c2", "bob", false)] {
            try await control.call("AddSession", id, "seat0", UInt32(1000), user, isActive)
        }
        let example = try ChildProcess(
            try builtProgram("login-sessions"),
            environment: bus.environment
        )
        try await example.line(containing: "session c1 of alice at seat0: active")
        try await example.line(containing: "session c2 of bob at seat0: inactive")
        try await example.line(containing: "sleep is delayed")
        try await eventually("the inhibitor's watch") {
            // It begins to listen after it has said so: the signal is repeated until it is heard.
            try await control.call(
                "EmitSignal",
                "org.freedesktop.login1.Manager",
                "PrepareForSleep",
                "b",
                [Value.bool(true)]
            )
            return example.exit != nil
        }
        #expect(example.exit == .status(0))
        #expect(example.output.hasSuffix("going to sleep\n"))
        withExtendedLifetime(mock) {}
    }

    private func contents(of path: String) throws -> String {
        let file = try #require(fopen("\(Self.root)/\(path)", "r"))
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
