// SPDX-License-Identifier: Apache-2.0

import TestKit

/// The files that are installed beside the programs, as they are in the source.
enum ProjectFiles {
    private static let root = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()

    /// The path of a file.
    static func path(_ file: String) -> String { "\(root)/\(file)" }

    /// All that a file holds.
    static func text(_ file: String) throws -> String { try readFile(path(file)) }

    /// The values of a key of a unit or of an activation file, in order.
    static func values(of key: String, in file: String) throws -> [String] {
        try text(file).split(separator: "\n").filter { $0.hasPrefix("\(key)=") }
            .map { String($0.dropFirst(key.count + 1)) }
    }

    /// The activation files, by the names that they are for.
    static let activationFiles = ["org.waymark.Location1", "org.freedesktop.GeoClue2"]
}
