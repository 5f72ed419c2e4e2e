// SPDX-License-Identifier: Apache-2.0

internal import Consent

/// What the system proves about the program behind a connection.
///
/// Which subject that makes it depends on the rules as well, and they can change while it runs.
struct ProgramIdentity: Hashable {
    /// The user that it runs as.
    var userID: UInt32
    /// The label of the security module.
    var securityLabel: String?
    /// What `/proc` says, as far as this daemon may look.
    var facts = ProcessFacts()

    /// The subject by the strongest proof: security label, Flatpak, snap, an executable that the
    /// rules name, unit, executable.
    ///
    /// - Parameters:
    ///   - rules: Executables that they name are known by their path before units are.
    ///   - isInstalled: Whether a desktop id is the system's.
    ///   - isTrusted: Whether nobody but root and this daemon's user can change a file.
    /// - Returns: A subject; without a proof, the one of all such programs of the user.
    func subject(
        under rules: AdministratorRules,
        isInstalled: (String) -> Bool = DesktopEntry.isInstalled,
        isTrusted: (String) -> Bool = TrustedFile.isTrusted
    ) -> Subject {
        func subject(_ kind: Subject.Kind, _ id: String) -> Subject {
            Subject(userID: userID, kind: kind, id: id)
        }
        if let snap = securityLabel.flatMap(Self.snapID) { return subject(.snap, snap) }
        let group = facts.controlGroup.flatMap(ControlGroup.init)
        // A program that may not know is believed to be it without a proof: so an upgrade, which
        // replaces its file while it runs, does not make it one of the others.
        if let path = facts.executable, rules.rulesOut(.exe, id: path) {
            return subject(.exe, path)
        }
        let executable = facts.executable.flatMap {
            !facts.isExecutableGone && isTrusted($0) ? $0 : nil
        }
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
