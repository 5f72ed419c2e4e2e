// SPDX-License-Identifier: Apache-2.0

import Consent
import EventLoop
import Glibc
import Testing

@testable import Service

@Suite @LoopActor struct IdentityTests {
    private nonisolated static let user = "/user.slice/user-1000.slice/user@1000.service/app.slice/"

    @Test(arguments: [
        (user + "app-gnome-org.gnome.Maps-4711.scope", "application(org.gnome.Maps)"),
        (user + #"app-gnome-org.x.Y\x2dZ-12.scope"#, "application(org.x.Y-Z)"),
        (user + "app-org.kde.marble-991.scope", "application(org.kde.marble)"),
        (user + "app-gnome-foot@1.service", "application(foot)"),
        (user + "app-org.kde.marble@abc.service", "application(org.kde.marble)"),
        (user + "app-flatpak-org.gnome.Weather-77.scope", "flatpak(org.gnome.Weather)"),
        (user + "snap.maps.viewer-0f1e.scope", "snap(maps.viewer)"),
        ("/system.slice/localtimed.service", "service(localtimed)"),
        (#"/system.slice/system-my\x2dapp.slice/my-app@1.service"#, "service(my-app@1)"),
        (user + "vte-spawn-1.scope/app-flatpak-org.x.Map-1.scope", "nil"),
        (user + "app-gnome-a-1.scope/app-flatpak-org.x.Map-1.scope", "application(a)"),
        ("/system.slice/mine.service/trusted.service", "service(mine)"),
        (user + "vte-spawn-1.scope", "nil"), ("/", "nil"), ("", "nil"),
        (user + "app-.scope", "nil"), (user + "app--1.scope", "nil"),
        ("/user.slice/user-1000.slice/session-2.scope", "nil"),
    ])
    func `a cgroup names an application or a service`(row: (String, String)) {
        let group = ControlGroup(path: row.0)
        let text =
            switch group {
            case .application(let id): "application(\(id))"
            case .flatpak(let id): "flatpak(\(id))"
            case .snap(let id): "snap(\(id))"
            case .service(let id): "service(\(id))"
            case nil: "nil"
            }
        #expect(text == row.1)
    }

    private func subject(
        label: String? = nil,
        executable: String? = nil,
        group: String? = nil,
        listed: [String] = [],
        installed: [String] = [],
        trusted: Bool = true
    ) -> String {
        let rules = AdministratorRules(
            Dictionary(
                uniqueKeysWithValues: listed.map {
                    (.one(.exe, id: $0), .init(Authorization(.always)))
                }
            )
        )
        let identity = ProgramIdentity(
            userID: 1000,
            securityLabel: label,
            facts: ProcessFacts(executable: executable, controlGroup: group)
        )
        let subject = identity.subject(
            under: rules,
            isInstalled: { installed.contains($0) },
            isTrusted: { _ in trusted }
        )
        return "\(subject.kind.rawValue):\(subject.id)"
    }

    @Test func `the strongest proof of identity counts`() {
        let flatpak = Self.user + "app-flatpak-org.x.Map-1.scope"
        let unit = Self.user + "app-gnome-org.x.Map-1.scope"
        let exe = "/usr/bin/map"
        #expect(
            subject(label: "snap.m.map (enforce)", executable: exe, group: flatpak) == "snap:m.map"
        )
        #expect(subject(executable: exe, group: flatpak, listed: [exe]) == "flatpak:org.x.Map")
        let installed = ["org.x.Map"]
        #expect(subject(executable: exe, group: unit, installed: installed) == "unit:org.x.Map")
        #expect(
            subject(executable: exe, group: unit, listed: [exe], installed: installed)
                == "exe:/usr/bin/map"
        )
        #expect(subject(executable: exe, group: unit) == "exe:/usr/bin/map")
        #expect(subject(executable: exe, group: "/system.slice/map.service") == "service:map")
        #expect(subject(label: "unconfined", executable: exe) == "exe:/usr/bin/map")
    }

    @Test func `an executable that others can change proves nothing`() {
        #expect(subject(executable: "/home/me/map", trusted: false) == "unknown:")
        #expect(
            subject(executable: "/home/me/map", listed: ["/home/me/map"], trusted: false)
                == "unknown:"
        )
        #expect(subject() == "unknown:")
    }

    @Test func `facts about this process are the kernel's`() throws {
        let facts = try #require(ProcessFacts(processID: UInt32(getpid())))
        #expect(facts.executable?.hasPrefix("/") == true)
        #expect(ProcessFacts(processID: 0x7fff_fff0) == nil)
    }

    @Test(arguments: [
        ("[Desktop Entry]\nExec=gnome-maps %U\n", "gnome-maps"),
        ("[Desktop Entry]\nName=x\nExec = /opt/a b\n", "/opt/a"),
        ("[Desktop Entry]\nExec=\"/opt/my app/run\" --x\n", "/opt/my app/run"),
        ("[Desktop Action New]\nExec=evil\n[Desktop Entry]\nExec=good\n", "good"),
        ("[Desktop Entry]\nName=x\n", "nil"),
    ])
    func `the command of a desktop file is its own, not an action's`(row: (String, String)) {
        #expect(DesktopEntry.command(in: row.0) ?? "nil" == row.1)
    }

    @Test func `a desktop id cannot name a file elsewhere`() {
        #expect((try? DesktopEntry.executable(of: "../../../tmp/x").get()) == nil)
    }

    @Test(arguments: [
        ("/usr/bin/python3.11", true), ("/usr/bin/dash", true), ("/usr/bin/lua5.4", true),
        ("/usr/bin/env", true), ("/usr/bin/pythonista", false), ("/usr/bin/gnome-maps", false),
    ])
    func `an interpreter stands for no program`(row: (String, Bool)) {
        #expect(SharedTool.runsOthers(row.0) == row.1)
    }

    @Test func `a program that is ruled out stays so when its file is replaced`() {
        let path = "/usr/bin/map"
        var rules = AdministratorRules([.others: .init(Authorization(.always))])
        let identity = ProgramIdentity(
            userID: 1000,
            facts: ProcessFacts(executable: path, isExecutableGone: true)
        )
        #expect(identity.subject(under: rules).kind == .unknown)
        rules.add(.init(Authorization(.always)), for: .one(.exe, id: path))
        #expect(identity.subject(under: rules).kind == .unknown)
        rules.add(.init(Authorization(.denied)), for: .one(.exe, id: path))
        let subject = identity.subject(under: rules)
        #expect(rules.authorization(of: subject) == Authorization(.denied))
    }

    @Test func `of two rules about one program the stricter one holds`() {
        var rules = AdministratorRules()
        let program = AdministratorRules.Program.one(.exe, id: "/usr/bin/map")
        let wasThereFirst = rules.add(.init(Authorization(.denied), users: [1]), for: program)
        #expect(!wasThereFirst)
        let wasThereThen = rules.add(.init(Authorization(.always), users: [2]), for: program)
        #expect(wasThereThen)
        #expect(rules.rules[program] == .init(Authorization(.denied), users: [1, 2]))
        rules.add(.init(Authorization(.always)), for: program)
        #expect(rules.rules[program] == .init(Authorization(.denied)))
    }
}
