// SPDX-License-Identifier: Apache-2.0

/// Sections, keys and values of a configuration file, each with its line for messages.
///
/// The format is what its neighbours use: `[section]`, `key = value`, whole-line comments that
/// begin with `#` or `;`. There is no continuation and no quoting: a value is what follows the
/// equals sign, without the blanks around it.
struct INIFile {
    struct Entry: Hashable {
        let key: String
        let value: String
        let line: Int
    }

    struct Section: Hashable {
        let name: String
        let line: Int
        var entries: [Entry] = []
    }

    let name: String
    private(set) var sections: [Section] = []

    /// Takes a file's text apart.
    ///
    /// - Parameters:
    ///   - name: The file's name, for messages.
    ///   - text: What it holds.
    /// - Throws: The first line that is neither a section, a key nor a comment.
    init(name: String, text: String) throws(ConfigurationError) {
        self.name = name
        // Some editors mark a file of UTF-8 at its beginning.
        let text = text.hasPrefix("\u{FEFF}") ? text.dropFirst() : text[...]
        let lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }
        for (index, raw) in lines.enumerated() {
            let line = raw.trimmed
            guard let first = line.first, first != "#", first != ";" else { continue }
            if first == "[" {
                try beginSection(line, index + 1)
            } else {
                try addEntry(line, index + 1)
            }
        }
    }

    private mutating func beginSection(_ line: Substring, _ number: Int) throws(ConfigurationError)
    {
        let title = line.dropFirst().dropLast().trimmed
        guard line.last == "]", !title.isEmpty else {
            throw ConfigurationError(
                name,
                line: number,
                "“\(line)” is not a section: write [name] in a line of its own"
            )
        }
        if let earlier = sections.first(where: { $0.name == title }) {
            throw ConfigurationError(
                name,
                line: number,
                "[\(title)] stands in line \(earlier.line) already: put all its keys there"
            )
        }
        sections.append(Section(name: String(title), line: number))
    }

    private mutating func addEntry(_ line: Substring, _ number: Int) throws(ConfigurationError) {
        guard let equals = line.firstIndex(of: "="), equals != line.startIndex else {
            throw ConfigurationError(
                name,
                line: number,
                "“\(line)” is neither a [section] nor a key = value"
            )
        }
        let key = line[..<equals].trimmed
        guard !sections.isEmpty else {
            throw ConfigurationError(
                name,
                line: number,
                "“\(key)” stands before the first [section]"
            )
        }
        let last = sections.count - 1
        if let earlier = sections[last].entries.first(where: { $0.key == key }) {
            throw ConfigurationError(
                name,
                line: number,
                "“\(key)” stands in line \(earlier.line) of this section already"
            )
        }
        let value = line[line.index(after: equals)...].trimmed
        sections[last].entries.append(
            Entry(key: String(key), value: String(value), line: number)
        )
    }
}

extension Substring {
    /// The text without blanks around it.
    var trimmed: Substring {
        var text = drop { $0 == " " || $0 == "\t" }
        while let last = text.last, last == " " || last == "\t" || last == "\r" {
            text.removeLast()
        }
        return text
    }
}
