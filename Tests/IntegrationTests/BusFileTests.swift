// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import Foundation
import FoundationXML
import Glibc
import Interfaces
import TestKit
import Testing

/// The files of `dbus/` and `data/` against the daemon that they describe.
@Suite @LoopActor struct BusFileTests {
    private nonisolated static let root = #filePath.split(separator: "/").dropLast(3)
        .reduce(into: "") { $0 += "/\($1)" }

    // MARK: Interfaces

    @Test func `the documented interfaces are what the daemon answers to Introspect`()
        async throws
    {
        let rig = try await Rig()
        let program = try await rig.program()
        let session = try await program.session()
        for (file, path) in [
            ("org.waymark.Location1.xml", Waymark.path),
            ("org.waymark.Location1.Session.xml", session.path),
        ] {
            let documented = try Description(xml: try readFile("\(Self.root)/dbus/\(file)"))
            let answer = try await program.connection.call(
                "Introspect",
                on: "org.freedesktop.DBus.Introspectable",
                at: path,
                of: Waymark.busName
            ).results(String.self)
            let answered = try Description(xml: answer).without("org.freedesktop.DBus")
            #expect(documented.members == answered.members)
            #expect(!documented.members.isEmpty)
            #expect(documented.undocumented == [])
        }
    }

    // MARK: Activation

    @Test(arguments: [Waymark.busName, GeoClueNames.busName])
    func `the bus starts the daemon for either name, and the first call is answered`(
        name: BusName
    ) async throws {
        let services = try TemporaryFolder()
        let folder = try TemporaryFolder()
        let configuration = try folder.write("waymark.conf", Rig.everybody)
        // The bus's own address is in the environment of what it starts.
        let command = "\(try builtProgram("waymarkd")) --bus system --config \(configuration)"
        for file in ["org.waymark.Location1.service", "org.freedesktop.GeoClue2.service"] {
            let lines = try readFile("\(Self.root)/dbus/\(file)").split(separator: "\n")
            let adapted = lines.filter { !$0.hasPrefix("User=") && !$0.hasPrefix("Systemd") }
                .map { $0.hasPrefix("Exec=") ? "Exec=\(command)" : String($0) }
            try services.write(file, adapted.joined(separator: "\n") + "\n")
        }
        let bus = try await PrivateBus.start(serviceFolder: services.path)
        let client = try await bus.connect()
        #expect(try await client.owner(of: name) == nil)
        if name == Waymark.busName {
            let status = try await client.call(
                "GetAuthorization",
                on: Waymark.location,
                at: Waymark.path,
                of: name
            ).results(String.self)
            #expect(status == "always")
        } else {
            let xml = try await client.call(
                "Introspect",
                on: "org.freedesktop.DBus.Introspectable",
                at: "/",
                of: name
            ).results(String.self)
            #expect(xml.contains("<node"))
        }
        let owner = try #require(try await client.owner(of: name))
        #expect(try await client.owner(of: Waymark.busName) == owner)
        #expect(try await client.owner(of: GeoClueNames.busName) == owner)
        let process = try #require(try await client.credentials(of: owner).processID)
        // Without its bus it has nothing to live for.
        bus.process.signal(SIGKILL)
        try await eventually("the daemon's end") { kill(pid_t(process), 0) != 0 }
    }

    @Test func `the names in the files are the daemon's`() throws {
        for name in [Waymark.busName, GeoClueNames.busName] {
            let service = try readFile("\(Self.root)/dbus/\(name).service")
            #expect(service.contains("\nName=\(name)\n"))
            #expect(service.contains("\nSystemdService=waymark.service\n"))
            let policy = try readFile("\(Self.root)/dbus/\(name).conf")
            #expect(policy.contains("<allow own=\"\(name)\"/>"))
        }
        let unit = try readFile("\(Self.root)/data/waymark.service")
        #expect(unit.contains("\nBusName=\(Waymark.busName)\n"))
        #expect(unit.contains("\nUser=waymark\n"))
        #expect(try readFile("\(Self.root)/data/waymark.sysusers").contains("\nu waymark "))
    }

    // MARK: Policy

    @Test func `the bus takes the policies, and the daemon can serve under them`() async throws {
        let bus = try await PrivateBus.start(
            includes: [
                "\(Self.root)/dbus/org.waymark.Location1.conf",
                "\(Self.root)/dbus/org.freedesktop.GeoClue2.conf",
            ],
            allowsOwnership: false
        )
        let client = try await bus.connect()
        if getuid() == 0 {
            let daemon = try await DaemonUnderTest.start(on: bus, configuration: Rig.everybody)
            let program = try await Program(client)
            let status = try await program.service.call("GetAuthorization").results(String.self)
            #expect(status == "always")
            try await daemon.stop()
        } else {
            // Nobody but root and the service's user can have the names.
            for name in [Waymark.busName, GeoClueNames.busName] {
                await #expect(throws: DBusError.self) { try await client.requestName(name) }
            }
        }
    }

    // MARK: Configuration

    @Test func `the default configuration decides nothing, and its examples are legal`()
        async throws
    {
        let text = try readFile("\(Self.root)/data/waymark.conf")
        #expect(text.split(separator: "\n").allSatisfy { $0.hasPrefix("#") })
        // An example is what has no blank behind the mark of a comment.
        let examples = text.split(separator: "\n").map { line in
            line.hasPrefix("#[")
                || (line.hasPrefix("#") && !line.hasPrefix("# ") && line.contains(" = "))
                ? line.dropFirst() : line
        }.joined(separator: "\n")
        #expect(examples.contains("\n[program.*]\n"))
        let bus = try await PrivateBus.start()
        let daemon = try await DaemonUnderTest.start(on: bus, configuration: text)
        try await daemon.reload(examples)
        #expect(try await daemon.stop() == .status(0))
    }
}

/// What introspection data says, in a form that can be compared.
private final class Description: NSObject, XMLParserDelegate {
    /// Each member of each interface with its arguments in order.
    private(set) var members: Set<String> = []

    /// Elements that are to be explained and are not.
    private(set) var undocumented: [String] = []

    private var stack: [(name: String, text: String, isDocumented: Bool)] = []

    init(xml: String) throws {
        super.init()
        let parser = XMLParser(data: Data(xml.utf8))
        parser.delegate = self
        guard parser.parse() else {
            throw DeadlinePassed("legal XML: \(parser.parserError.map { "\($0)" } ?? "")")
        }
    }

    /// The same without the interfaces whose names begin so.
    func without(_ prefix: String) -> Description {
        members = members.filter { !$0.hasPrefix(prefix) }
        return self
    }

    func parser(
        _ parser: XMLParser,
        didStartElement element: String,
        namespaceURI: String?,
        qualifiedName: String?,
        attributes: [String: String]
    ) {
        if element == "doc:doc" {
            if !stack.isEmpty { stack[stack.count - 1].isDocumented = true }
            return
        }
        guard !element.hasPrefix("doc:"), element != "node" else { return }
        let words = ["name", "type", "direction", "access", "value"].compactMap { attributes[$0] }
        stack.append((element, ([element] + words).joined(separator: " "), false))
    }

    func parser(
        _ parser: XMLParser,
        didEndElement element: String,
        namespaceURI: String?,
        qualifiedName: String?
    ) {
        guard !element.hasPrefix("doc:"), element != "node", let last = stack.popLast() else {
            return
        }
        if !last.isDocumented, element != "annotation" { undocumented.append(last.text) }
        guard let outer = stack.last else { return }
        if outer.name == "interface" {
            let interface = outer.text.dropFirst("interface ".count)
            members.insert("\(interface): \(last.text)")
        } else {
            stack[stack.count - 1].text += "; \(last.text)"
        }
    }
}
