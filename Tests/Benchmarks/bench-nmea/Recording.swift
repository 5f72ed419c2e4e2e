// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A million lines, made by repeating recorded logs.
struct Recording {
    let bytes: [UInt8]
    let lineCount: Int

    /// Reads all logs of a folder, or makes `nil` if there are none.
    init?(logs folder: String) {
        var all: [UInt8] = []
        for name in Self.names(folder) {
            guard let log = Self.contents("\(folder)/\(name)/body.nmea") else { continue }
            all += log
            // Many logs end in the middle of a line.
            all.append(UInt8(ascii: "\n"))
        }
        let lines = Self.lines(all)
        guard lines > 0 else { return nil }
        let repetitions = (1_000_000 + lines - 1) / lines
        var bytes: [UInt8] = []
        bytes.reserveCapacity(all.count * repetitions)
        for _ in 0..<repetitions { bytes += all }
        self.bytes = bytes
        lineCount = lines * repetitions
    }

    /// The lines that are text to the end: gpsbabel stops reading at some binary bytes.
    var text: Recording {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        var count = 0
        for line in bytes.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == 0x0D })
        where line.allSatisfy({ (0x20..<0x7F).contains($0) }) {
            text += line
            text.append(UInt8(ascii: "\n"))
            count += 1
        }
        return Recording(bytes: text, lineCount: count)
    }

    private init(bytes: [UInt8], lineCount: Int) {
        self.bytes = bytes
        self.lineCount = lineCount
    }

    private static func lines(_ bytes: [UInt8]) -> Int {
        bytes.count { $0 == UInt8(ascii: "\n") }
    }

    private static func names(_ folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }

    private static func contents(_ path: String) -> [UInt8]? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
        }
    }
}
