// SPDX-License-Identifier: Apache-2.0

private import Consent
private import Positioning

extension Configuration {
    /// A key's value and where it stands.
    private struct Setting {
        let value: String
        let file: String
        let line: Int

        func mistake(_ message: String) -> ConfigurationError {
            ConfigurationError(file, line: line, message)
        }
    }

    /// A section, joined from all files that have it.
    private struct JoinedSection {
        let name: String
        let file: String
        let line: Int
        var settings: [String: Setting] = [:]

        /// The part of the name behind the first dot.
        var title: String { String(name.drop { $0 != "." }.dropFirst()) }

        func mistake(_ message: String) -> ConfigurationError {
            ConfigurationError(file, line: line, message)
        }

        func required(_ key: String, _ allowed: String) throws(ConfigurationError) -> Setting {
            if let setting = settings[key] { return setting }
            throw mistake("[\(name)] needs “\(key)”: \(allowed)")
        }
    }

    /// Joins the files, in order, and reads all sections.
    init(_ files: [INIFile]) throws(ConfigurationError) {
        for section in try Self.join(files) {
            if section.name.hasPrefix("source.") {
                sources.append(try Self.source(section))
            } else {
                programs.append(try Self.program(section))
            }
        }
    }

    private static let sourceKeys = ["type", "address"]
    private static let programKeys = ["authorization", "accuracy", "users"]

    private static func join(_ files: [INIFile]) throws(ConfigurationError) -> [JoinedSection] {
        var sections: [JoinedSection] = []
        for file in files {
            for section in file.sections {
                let keys = try keys(of: section, in: file)
                let index: Int
                if let known = sections.firstIndex(where: { $0.name == section.name }) {
                    index = known
                } else {
                    index = sections.count
                    sections.append(
                        JoinedSection(name: section.name, file: file.name, line: section.line)
                    )
                }
                for entry in section.entries {
                    guard keys.contains(entry.key) else {
                        throw ConfigurationError(
                            file.name,
                            line: entry.line,
                            "[\(section.name)] has no key “\(entry.key)”:"
                                + " allowed are \(keys.joined(separator: ", "))"
                        )
                    }
                    sections[index].settings[entry.key] = Setting(
                        value: entry.value,
                        file: file.name,
                        line: entry.line
                    )
                }
            }
        }
        return sections
    }

    private static func keys(
        of section: INIFile.Section,
        in file: INIFile
    ) throws(ConfigurationError) -> [String] {
        for (prefix, keys) in [("source.", sourceKeys), ("program.", programKeys)]
        where section.name.hasPrefix(prefix) && section.name.count > prefix.count {
            return keys
        }
        throw ConfigurationError(
            file.name,
            line: section.line,
            "there is no section [\(section.name)]: allowed are [source.NAME] and [program.ID]"
        )
    }

    // MARK: Sources

    private static func source(_ section: JoinedSection) throws(ConfigurationError) -> Source {
        let type = try section.required("type", "one of \(SourceAddress.typeWords)")
        let address = section.settings["address"]
        do {
            return Source(
                name: section.title,
                address: try SourceAddress(type: type.value, address: address?.value ?? "")
            )
        } catch {
            throw (error.isAboutType ? type : address ?? type).mistake(error.description)
        }
    }

    // MARK: Programs

    private static let authorizationWords = "always, when-in-use, denied or restricted"

    private static func program(
        _ section: JoinedSection
    ) throws(ConfigurationError) -> ProgramSection {
        let word = try section.required("authorization", authorizationWords)
        guard let status = AuthorizationStatus(rawValue: word.value), status != .notDetermined
        else {
            throw word.mistake(
                "authorization “\(word.value)” is none of \(authorizationWords)"
            )
        }
        var accuracy = AccuracyAuthorization.full
        if let setting = section.settings["accuracy"] {
            guard let known = AccuracyAuthorization(rawValue: setting.value) else {
                throw setting.mistake("accuracy “\(setting.value)” is neither full nor reduced")
            }
            accuracy = known
        }
        return ProgramSection(
            program: try program(named: section.title, in: section),
            rule: .init(
                Authorization(status, accuracy: accuracy),
                users: try section.settings["users"].map(users)
            )
        )
    }

    private static func program(
        named title: String,
        in section: JoinedSection
    ) throws(ConfigurationError) -> ProgramSection.Program {
        if title == "*" { return .others }
        if title.hasPrefix("/") { return .subject(.exe, id: title) }
        guard let colon = title.firstIndex(of: ":") else { return .desktopID(title) }
        let id = String(title[title.index(after: colon)...])
        let kind = Subject.Kind(rawValue: String(title[..<colon]))
        guard let kind, kind != .unknown, !id.isEmpty else {
            throw section.mistake(
                "[program.\(title)] names no program: allowed are a desktop id,"
                    + " flatpak:ID, snap:ID, unit:ID, service:ID, exe:PATH, an absolute path,"
                    + " and * for all others"
            )
        }
        switch kind {
        case .exe where !id.hasPrefix("/"):
            throw section.mistake("[program.\(title)] needs an absolute path behind exe:")
        case .service where id.hasSuffix(".service"):
            return .subject(.service, id: String(id.dropLast(".service".count)))
        case .unit where id.hasSuffix(".desktop"):
            return .subject(.unit, id: String(id.dropLast(".desktop".count)))
        default:
            return .subject(kind, id: id)
        }
    }

    private static func users(_ setting: Setting) throws(ConfigurationError) -> Set<UInt32> {
        var users: Set<UInt32> = []
        for word in setting.value.split(whereSeparator: { $0 == " " || $0 == "\t" }) {
            guard let user = UInt32(word) else {
                throw setting.mistake(
                    "users “\(word)” is no user id: write numbers with blanks between them"
                )
            }
            users.insert(user)
        }
        guard !users.isEmpty else {
            throw setting.mistake("users needs at least one user id, such as 1000")
        }
        return users
    }
}
