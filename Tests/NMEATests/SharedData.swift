// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Recorded logs and vectors that lie beside the package, not in it.
enum SharedData {
    /// The folder: `WAYMARK_SHARED`, or `../shared` beside the package.
    static let folder: URL = {
        if let path = ProcessInfo.processInfo.environment["WAYMARK_SHARED"] {
            return URL(fileURLWithPath: path)
        }
        let package = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return package.deletingLastPathComponent().appendingPathComponent("shared")
    }()

    static let logs = folder.appendingPathComponent("data/gps-logs")
    static let feeds = folder.appendingPathComponent("data/feeds")
    static let vectors = folder.appendingPathComponent("data/nmea-vectors.json")

    static func exists(_ url: URL) -> Bool {
        FileManager.default.fileExists(atPath: url.path)
    }

    static func bytes(_ url: URL) throws -> [UInt8] {
        Array(try Data(contentsOf: url))
    }

    /// The names of the logs, sorted.
    static func logNames() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: logs.path)
            .filter { exists(logs.appendingPathComponent($0).appendingPathComponent("fixes.csv")) }
            .sorted()
    }
}
