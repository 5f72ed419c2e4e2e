// SPDX-License-Identifier: Apache-2.0

/// Programs that act for others: who is known by one of them is not known at all.
enum SharedTool {
    private static let names: Set<String> = [
        "bash", "busctl", "bwrap", "dash", "dbus-run-session", "dbus-send", "env", "fish",
        "flatpak", "gdbus", "gjs", "gjs-console", "java", "mono", "node", "nodejs", "perl",
        "pkexec", "sh", "snap", "sudo", "systemd-run", "waymark", "wine", "zsh",
    ]

    /// Their names with a version behind them: `python3.11`, `lua5.4`.
    private static let families = [
        "electron", "lua", "perl5", "php", "python", "ruby", "tclsh", "wish",
    ]

    /// Whether a program, by its real path, runs what others have written.
    static func runsOthers(_ path: String) -> Bool {
        let name = String(path.split(separator: "/").last ?? "")
        if names.contains(name) { return true }
        return families.contains { family in
            name.hasPrefix(family)
                && name.dropFirst(family.count).allSatisfy { $0.isNumber || $0 == "." }
        }
    }
}
