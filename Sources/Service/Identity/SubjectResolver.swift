// SPDX-License-Identifier: Apache-2.0

internal import Consent
internal import DBus
internal import EventLoop

/// Finds out which program is behind a connection.
///
/// A protocol, since a daemon that is not root needs the help of another process to see the
/// executables of other users' programs.
@LoopActor protocol SubjectResolver {
    /// The subject behind a connection. What cannot be proved is of the kind `unknown`.
    ///
    /// - Parameters:
    ///   - credentials: What the bus knows of the connection.
    ///   - rules: Executables that they name are known by their path before any other way.
    /// - Returns: The subject by the strongest proof there is.
    func subject(of credentials: Credentials, rules: AdministratorRules) async -> Subject
}

/// Looks at `/proc` itself: enough for programs of its own user, and for all if it is root.
struct LocalSubjectResolver: SubjectResolver {
    func subject(of credentials: Credentials, rules: AdministratorRules) async -> Subject {
        let facts = credentials.processID.flatMap { ProcessFacts(processID: $0) }
        return Self.subject(
            userID: credentials.userID,
            label: credentials.securityLabel,
            facts: facts ?? ProcessFacts(),
            rules: rules
        )
    }

    /// The first proof counts: security label, Flatpak, snap, an executable that the configuration
    /// names, unit, executable.
    static func subject(
        userID: UInt32,
        label: String?,
        facts: ProcessFacts,
        rules: AdministratorRules,
        isInstalled: (String) -> Bool = DesktopEntry.isInstalled,
        isTrusted: (String) -> Bool = TrustedFile.isTrusted
    ) -> Subject {
        func subject(_ kind: Subject.Kind, _ id: String) -> Subject {
            Subject(userID: userID, kind: kind, id: id)
        }
        if let snap = label.flatMap(snapID) { return subject(.snap, snap) }
        let group = facts.controlGroup.flatMap(ControlGroup.init)
        let executable = facts.executable.flatMap { isTrusted($0) ? $0 : nil }
        switch group {
        case .flatpak(let id): return subject(.flatpak, id)
        case .snap(let id): return subject(.snap, id)
        case .application, .service, nil: break
        }
        if let executable, rules.names(.exe, id: executable) { return subject(.exe, executable) }
        switch group {
        case .application(let id) where isInstalled(id): return subject(.unit, id)
        case .service(let name): return subject(.service, name)
        default: break
        }
        return executable.map { subject(.exe, $0) } ?? subject(.unknown, "")
    }

    /// The snap in a label of AppArmor such as `snap.maps.maps (enforce)`.
    private static func snapID(_ label: String) -> String? {
        let profile = label.prefix { $0 != " " }
        guard profile.hasPrefix("snap.") else { return nil }
        return String(profile.dropFirst("snap.".count))
    }
}
