// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestKit

/// The service in C that the wrapper is compared with.
enum FloorProgram: Equatable {
    /// It was compiled to a program at a path.
    case compiled(String)
    /// Its source is not there.
    case missing(String)

    /// Compiles it as its own makefile does.
    ///
    /// - Parameters:
    ///   - shared: The folder that holds `bench/floor.c`.
    ///   - folder: Where the program goes.
    /// - Returns: The program, if there is its source.
    /// - Throws: If the compiler fails.
    static func compile(
        in shared: String,
        to folder: TemporaryFolder
    ) async throws -> FloorProgram {
        let source = "\(shared)/bench/floor.c"
        guard access(source, R_OK) == 0 else { return .missing("\(source) is not there") }
        let program = "\(folder.path)/floor"
        let command = #"exec cc -O2 -o "$1" "$2" $(pkg-config --cflags --libs dbus-1)"#
        let compiler = try await ChildProcess("sh", ["-c", command, "sh", program, source])
        guard try await compiler.waitForExit(within: .seconds(60)) == .status(0) else {
            throw BenchmarkError("cannot compile \(source): \(await compiler.output)")
        }
        return .compiled(program)
    }

    /// Whether its source is not there.
    var isMissing: Bool {
        if case .missing = self { true } else { false }
    }
}

/// What keeps a benchmark from being one.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
