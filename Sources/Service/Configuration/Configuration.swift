// SPDX-License-Identifier: Apache-2.0

public import Consent
private import EventLoop
private import Glibc
public import Positioning

/// What the administrator has set: the sources and the decisions about programs.
public struct Configuration: Sendable {
    /// A source, by the name of its section.
    public struct Source: Hashable, Sendable {
        /// The name of its section, for messages.
        public var name: String
        /// What it is and where.
        public var address: SourceAddress

        /// Makes a source.
        public init(name: String, address: SourceAddress) {
            self.name = name
            self.address = address
        }
    }

    /// A decision about programs, as it is written: a desktop id has yet to be looked up.
    struct ProgramSection: Hashable, Sendable {
        enum Program: Hashable, Sendable {
            case desktopID(String)
            case subject(Subject.Kind, id: String)
            case others
        }

        var program: Program
        var rule: AdministratorRules.Rule
    }

    /// The sources, in the order of the files.
    public var sources: [Source] = []
    var programs: [ProgramSection] = []

    /// A configuration without sources, in which nothing is decided.
    public init() {}

    /// Where the configuration is unless the command line says otherwise.
    public static let defaultPath = "/etc/waymark/waymark.conf"

    /// Reads a file and the files `*.conf` of the folder of the same name with `.d` behind it.
    ///
    /// Later files add sections, and replace keys of sections that earlier ones have.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - isRequired: Whether it is a mistake if there is no such file.
    /// - Returns: What the files say.
    /// - Throws: The first mistake.
    public static func load(
        path: String = defaultPath,
        isRequired: Bool
    ) throws(ConfigurationError) -> Configuration {
        var files: [INIFile] = []
        for file in [path] + dropIns(of: path) {
            do {
                files.append(try INIFile(name: file, text: try readSmallFile(file)))
            } catch let error as SystemError {
                if error.code == ENOENT, file == path, !isRequired { continue }
                throw ConfigurationError(file, "\(error)")
            } catch let error as ConfigurationError {
                throw error
            } catch {
                throw ConfigurationError(file, "\(error)")
            }
        }
        return try Configuration(files)
    }

    /// The decisions, with desktop ids looked up in the system's files as they are now.
    ///
    /// - Returns: The decisions, and the desktop ids that are not installed.
    public func administratorRules() -> (rules: AdministratorRules, missing: [String]) {
        var rules: [AdministratorRules.Program: AdministratorRules.Rule] = [:]
        var missing: [String] = []
        for section in programs {
            switch section.program {
            case .others: rules[.others] = section.rule
            case .subject(.exe, let path):
                rules[.one(.exe, id: TrustedFile.realPath(path) ?? path)] = section.rule
            case .subject(let kind, let id): rules[.one(kind, id: id)] = section.rule
            case .desktopID(let id):
                if let path = DesktopEntry.executable(of: id) {
                    rules[.one(.exe, id: path)] = section.rule
                } else {
                    missing.append(id)
                }
            }
        }
        return (AdministratorRules(rules), missing)
    }

    private static func dropIns(of path: String) -> [String] {
        guard let folder = opendir("\(path).d") else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(".conf"), !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted().map { "\(path).d/\($0)" }
    }
}
