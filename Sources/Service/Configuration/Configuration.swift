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
        for file in [path] + (try dropIns(of: path)) {
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
    /// - Returns: The decisions, and sentences about those that do not hold as they are written.
    public func administratorRules() -> (rules: AdministratorRules, warnings: [String]) {
        var rules = AdministratorRules()
        var warnings: [String] = []
        for section in programs {
            let program: AdministratorRules.Program
            switch section.program {
            case .others: program = .others
            case .subject(.exe, let path):
                program = .one(.exe, id: TrustedFile.realPath(path) ?? path)
            case .subject(let kind, let id): program = .one(kind, id: id)
            case .desktopID(let id):
                switch DesktopEntry.executable(of: id) {
                case .success(let path): program = .one(.exe, id: path)
                case .failure(let reason):
                    warnings.append("[program.\(id)] has no effect: \(reason)")
                    continue
                }
            }
            if rules.add(section.rule, for: program), case .one(_, let id) = program {
                warnings.append("two sections are about \(id): the stricter one holds")
            }
        }
        return (rules, warnings)
    }

    private static func dropIns(of path: String) throws(ConfigurationError) -> [String] {
        guard let folder = opendir("\(path).d") else {
            // A decision that cannot be read must not be passed over.
            if errno == ENOENT { return [] }
            throw ConfigurationError("\(path).d", "\(SystemError(operation: "list the folder"))")
        }
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
