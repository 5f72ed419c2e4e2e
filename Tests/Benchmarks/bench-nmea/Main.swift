// SPDX-License-Identifier: Apache-2.0

// Measures how fast sentences become fixes, and whether memory grows: `make bench`.

import Glibc

@main struct Main {
    static func main() {
        var arguments = Array(CommandLine.arguments.dropFirst())
        var lines = 100_000_000
        if arguments.count == 3, arguments[1] == "--lines", let number = Int(arguments[2]) {
            lines = number
            arguments.removeLast(2)
        }
        guard arguments.count == 1, !arguments[0].isEmpty else {
            print("usage: bench-nmea SHARED-FOLDER [--lines N]")
            exit(EX_USAGE)
        }
        guard let recording = Recording(logs: arguments[0] + "/data/gps-logs") else {
            print("bench-nmea: skipped, there are no logs in \(arguments[0])/data/gps-logs")
            exit(EXIT_SUCCESS)
        }
        exit(Benchmark(recording: recording, totalLines: lines).run() ? EXIT_SUCCESS : EXIT_FAILURE)
    }
}
