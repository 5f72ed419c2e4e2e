// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import Interfaces
import TestKit
import Testing

@Suite @LoopActor struct IntrospectionTests {
    private nonisolated static let mainFile = "dbus/org.waymark.Location1.xml"
    private nonisolated static let sessionFile = "dbus/org.waymark.Location1.Session.xml"

    private func introspect(
        _ path: ObjectPath,
        _ connection: Connection
    ) async throws -> IntrospectionElement {
        let xml = try await connection.call(
            "Introspect",
            on: "org.freedesktop.DBus.Introspectable",
            at: path,
            of: Waymark.busName
        ).results(String.self)
        return try .document(xml)
    }

    private func compare(_ daemon: IntrospectionElement, with file: String) throws {
        let described = try IntrospectionElement.document(try ProjectFiles.text(file)).interfaces
        let answered = daemon.interfaces
        #expect(described.keys.sorted() == answered.keys.sorted())
        for (name, interface) in answered {
            let other = try #require(described[name], "\(file) lacks the interface \(name)")
            #expect(
                other.children.map(\.name) == interface.children.map(\.name),
                "the members of \(name)"
            )
            for (theirs, ours) in zip(other.children, interface.children) {
                #expect(theirs == ours, "\(name).\(ours.name)")
            }
            #expect(other == interface)
        }
    }

    @Test func `the description of the main object is what the daemon answers`() async throws {
        let bus = try await PrivateBus.start()
        let daemon = try await DaemonUnderTest.start(on: bus)
        let answer = try await introspect(Waymark.path, try await bus.connect())
        #expect(answer.interfaces.count == 2)
        try compare(answer, with: Self.mainFile)
        try await daemon.stop()
    }

    @Test func `the description of a session is what the daemon answers to its owner`()
        async throws
    {
        let bus = try await PrivateBus.start()
        let daemon = try await DaemonUnderTest.start(on: bus)
        let owner = try await bus.connect()
        let options: [String: Value] = [:]
        let path = try await owner.call(
            "CreateSession",
            on: Waymark.sessions,
            at: Waymark.path,
            of: Waymark.busName,
            options
        ).results(ObjectPath.self)
        let answer = try await introspect(path, owner)
        #expect(answer.interfaces.count == 1)
        try compare(answer, with: Self.sessionFile)

        let stranger = try await bus.connect()
        do {
            let answer = try await introspect(path, stranger)
            Issue.record("a stranger sees the session: \(answer)")
        } catch let error as DBusError {
            #expect(error.name == .unknownObject)
        }
        try await daemon.stop()
    }

    @Test(arguments: [mainFile, sessionFile])
    func `every interface, member and argument is documented`(_ file: String) throws {
        let document = try IntrospectionElement.document(try ProjectFiles.text(file))
        #expect(document.undocumented().isEmpty)
    }

    @Test func `a difference of an argument is one of the documents`() throws {
        func document(_ argument: String) throws -> IntrospectionElement? {
            try .document(
                """
                <node><interface name="a.B">
                <signal name="C"><arg name="d" type="s"/><arg name="\(argument)" type="u"/></signal>
                <method name="E"/>
                </interface></node>
                """
            ).interfaces["a.B"]
        }
        #expect(try document("e") == document("e"))
        #expect(try document("e") != document("f"))
        #expect(
            try IntrospectionElement.document("<node><interface name='a.B'/></node>")
                .undocumented() == ["interface //a.B"]
        )
    }

    @Test func `every word of the wire is in the description`() throws {
        let main = try ProjectFiles.text(Self.mainFile)
        let session = try ProjectFiles.text(Self.sessionFile)
        for word in DesiredAccuracy.allCases.map(\.rawValue) {
            #expect(main.contains(word))
            #expect(session.contains(word))
        }
        for failure in [LocationFailure.denied, .locationUnknown] {
            #expect(main.contains(failure.rawValue))
            #expect(session.contains(failure.rawValue))
        }
        for error in [
            WireError.denied, WireError.restricted, WireError.notDetermined,
            WireError.locationUnknown, WireError.busy, WireError.cancelled,
            WireError.limitExceeded, WireError.invalidArguments,
        ] {
            #expect(main.contains(error.string), "\(error)")
        }
    }
}
