// SPDX-License-Identifier: Apache-2.0

private import Glibc

/// The programs that desktop ids stand for, by the system's `.desktop` files.
enum DesktopEntry {
    /// Where the system's `.desktop` files are; a user's own prove nothing.
    static let systemFolders = ["/usr/local/share/applications", "/usr/share/applications"]

    /// Whether a desktop id is installed for all users.
    static func isInstalled(_ id: String) -> Bool {
        systemFolders.contains { access("\($0)/\(id).desktop", R_OK) == 0 }
    }

    /// Why a desktop id stands for no program.
    struct Unresolved: Error, CustomStringConvertible {
        let description: String
    }

    /// The executable of a desktop id: the first word of its file's `Exec`, looked for where the
    /// system's programs are, as a real path.
    ///
    /// - Parameter id: The desktop id.
    /// - Returns: A path, unless there is none that can be trusted, or none that stands for this
    ///   program alone.
    static func executable(of id: String) -> Result<String, Unresolved> {
        let folders = systemFolders.joined(separator: " or ")
        let missing = Unresolved(
            description: "no \(id).desktop of a program of root's is in \(folders)"
        )
        guard !id.contains("/") else { return .failure(missing) }
        for folder in systemFolders {
            guard let text = try? readSmallFile("\(folder)/\(id).desktop"),
                let program = command(in: text)
            else { continue }
            let candidates =
                program.hasPrefix("/")
                ? [program] : ["/usr/local/bin/\(program)", "/usr/bin/\(program)"]
            for candidate in candidates {
                guard let path = TrustedFile.realPath(candidate) else { continue }
                guard !SharedTool.runsOthers(path) else {
                    return .failure(
                        Unresolved(
                            description: "its file starts \(path), which runs many programs:"
                                + " name a unit:ID or flatpak:ID, or exe:\(path) for all of them"
                        )
                    )
                }
                return .success(path)
            }
        }
        return .failure(missing)
    }

    /// The first word of `Exec` in the group `[Desktop Entry]`, without quotes.
    static func command(in text: String) -> String? {
        var isInGroup = false
        for line in text.split(separator: "\n") {
            if line.hasPrefix("[") {
                isInGroup = line.hasPrefix("[Desktop Entry]")
            } else if isInGroup, line.hasPrefix("Exec") {
                let value = line.drop { $0 != "=" }.dropFirst().drop { $0 == " " }
                if value.first == "\"" { return String(value.dropFirst().prefix { $0 != "\"" }) }
                return String(value.prefix { $0 != " " })
            }
        }
        return nil
    }
}

/// Files of which it is known who can change them.
enum TrustedFile {
    /// The real path of a file that only root and this daemon's own user can change; `nil` for any
    /// other.
    ///
    /// Who acts as this daemon's user controls the daemon anyway.
    static func realPath(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        let real = String(cString: resolved)
        return isTrusted(real) ? real : nil
    }

    /// Whether only root and this daemon's own user can change a file.
    static func isTrusted(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        return (status.st_uid == 0 || status.st_uid == geteuid()) && status.st_mode & 0o022 == 0
    }
}
