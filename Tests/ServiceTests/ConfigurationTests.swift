// SPDX-License-Identifier: Apache-2.0

import Consent
import Geo
import Positioning
import TestKit
import Testing

@testable import Service

@Suite struct ConfigurationTests {
    private func load(_ text: String) throws -> Configuration {
        let folder = try TemporaryFolder()
        let path = try folder.write("waymark.conf", text)
        return try Configuration.load(path: path, isRequired: true)
    }

    private func mistake(_ text: String) throws -> String {
        do {
            _ = try load(text)
        } catch let error as ConfigurationError {
            return "\(error.line.map(String.init) ?? "-"): \(error.message)"
        }
        return "accepted"
    }

    @Test func `sources and programs are read`() throws {
        let configuration = try load(
            """
            # A comment, and a blank line.

            [source.receiver]
            type = gpsd
            address = gps.example:2948
            [source.bridge]
              type=nmea
              address =  unix:/run/my bridge.sock\u{20}
            ; another comment
            [program./usr/bin/env]
            authorization = when-in-use
            accuracy = reduced
            users = 1000 1001
            [program.flatpak:org.example.Map]
            authorization = denied
            [program.*]
            authorization = restricted
            """
        )
        #expect(
            configuration.sources == [
                .init(name: "receiver", address: .gpsd(.tcp(host: "gps.example", port: 2948))),
                .init(name: "bridge", address: .nmea(.unix("/run/my bridge.sock"))),
            ]
        )
        let rules = configuration.administratorRules().rules
        let env = try #require(TrustedFile.realPath("/usr/bin/env"))
        func status(_ kind: Subject.Kind, _ id: String, user: UInt32 = 1000) -> Authorization {
            rules.authorization(of: Subject(userID: user, kind: kind, id: id))
        }
        #expect(status(.exe, env) == Authorization(.whenInUse, accuracy: .reduced))
        #expect(status(.exe, env, user: 1002) == Authorization(.restricted))
        #expect(status(.flatpak, "org.example.Map") == Authorization(.denied))
        #expect(status(.unit, "org.example.Map") == Authorization(.restricted))
        #expect(status(.unknown, "") == Authorization(.restricted))
    }

    @Test func `without a decision nothing is determined`() throws {
        let rules = try load("").administratorRules().rules
        let subject = Subject(userID: 0, kind: .exe, id: "/usr/bin/env")
        #expect(rules.authorization(of: subject) == .notDetermined)
    }

    @Test func `a file of the folder adds sections and replaces keys`() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(
            "waymark.conf",
            "[source.a]\ntype = gpsd\naddress = one\n[program.*]\nauthorization = always\n"
        )
        try folder.makeFolder("waymark.conf.d")
        try folder.write("waymark.conf.d/20.conf", "[source.a]\naddress = three\n")
        try folder.write(
            "waymark.conf.d/10.conf",
            "[source.a]\naddress = two\n[source.b]\ntype=gpsd"
        )
        try folder.write("waymark.conf.d/30.txt", "nonsense")
        let configuration = try Configuration.load(path: path, isRequired: true)
        #expect(
            configuration.sources.map(\.address) == [
                .gpsd(.tcp(host: "three", port: 2947)), .gpsd(.tcp(host: "localhost", port: 2947)),
            ]
        )
    }

    @Test func `a folder of decisions that cannot be read is a mistake`() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("waymark.conf", "\u{FEFF}[program.*]\nauthorization = always\n")
        #expect(try Configuration.load(path: path, isRequired: true).programs.count == 1)
        try folder.write("waymark.conf.d", "not a folder")
        #expect(throws: ConfigurationError.self) {
            try Configuration.load(path: path, isRequired: true)
        }
    }

    @Test func `a missing file is a mistake only if it was asked for`() throws {
        #expect(
            try Configuration.load(path: "/nonexistent/w.conf", isRequired: false).sources == []
        )
        #expect(throws: ConfigurationError.self) {
            try Configuration.load(path: "/nonexistent/w.conf", isRequired: true)
        }
    }

    @Test(arguments: [
        (
            "[source.a]\ntype = gpsd\nport = 1",
            "3: [source.a] has no key “port”: allowed are type, address"
        ),
        ("type = gpsd", "1: “type” stands before the first [section]"),
        (
            "[source.a\ntype = gpsd",
            "1: “[source.a” is not a section: write [name] in a line of its own"
        ),
        ("[source.a]\nnonsense", "2: “nonsense” is neither a [section] nor a key = value"),
        ("[source.a]\ntype=gpsd\ntype=nmea", "3: “type” stands in line 2 of this section already"),
        (
            "[source.a]\ntype=gpsd\n[source.a]\n",
            "3: [source.a] stands in line 1 already: put all its keys there"
        ),
        (
            "[server]\n",
            "1: there is no section [server]: allowed are [source.NAME] and [program.ID]"
        ),
        (
            "[source.]\ntype=gpsd",
            "1: there is no section [source.]: allowed are [source.NAME] and [program.ID]"
        ),
        ("[source.a]\n", "1: [source.a] needs “type”: one of gpsd, nmea, modem or static"),
        ("[source.a]\ntype=gps", "2: “gps” is no type of source: use gpsd, nmea, modem or static"),
        (
            "[source.a]\ntype=nmea\naddress=usb:1",
            "3: “usb:1” is no address for NMEA:"
                + " use serial:PATH, unix:PATH, tcp:HOST:PORT, udp:PORT, avahi: or file:PATH"
        ),
        (
            "[program.x]\n",
            "1: [program.x] needs “authorization”: always, when-in-use, denied or restricted"
        ),
        (
            "[program.x]\nauthorization=yes",
            "2: authorization “yes” is none of always, when-in-use, denied or restricted"
        ),
        (
            "[program.x]\nauthorization=not-determined",
            "2: authorization “not-determined” is none of always, when-in-use, denied or restricted"
        ),
        (
            "[program.x]\nauthorization=always\naccuracy=1",
            "3: accuracy “1” is neither full nor reduced"
        ),
        (
            "[program.x]\nauthorization=always\nusers=me",
            "3: users “me” is no user id: write numbers with blanks between them"
        ),
        (
            "[program.x]\nauthorization=always\nusers=",
            "3: users needs at least one user id, such as 1000"
        ),
        (
            "[program.exe:vi]\nauthorization=always",
            "1: [program.exe:vi] needs an absolute path behind exe:"
        ),
    ])
    func `a mistake is told with its line and what is allowed`(row: (String, String)) throws {
        #expect(try mistake(row.0) == row.1)
    }

    @Test func `a program of an unknown kind is a mistake`() throws {
        let text = try mistake("[program.app:x]\nauthorization=always")
        #expect(text.hasPrefix("1: [program.app:x] names no program"))
    }
}
