// SPDX-License-Identifier: Apache-2.0

// What `make bench` measures: a service that does with the wrapper what `floor.c` does with
// libdbus alone. It is written as any program would be; nothing is done for the measurement.

import DBus
import EventLoop
import Glibc

@main struct Main {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 2, let name = BusName(validating: arguments[1]) else {
            printError("usage: bench-dbus-service NAME FEED-SOCKET")
            exit(EX_USAGE)
        }
        signal(SIGPIPE, SIG_IGN)
        EventLoop.shared.run {
            do {
                try await BenchmarkService.start(name: name, feed: arguments[2])
            } catch {
                printError("bench-dbus-service: \(error)")
                exit(EXIT_FAILURE)
            }
        }
    }

    private static func printError(_ message: String) {
        let line = Array("\(message)\n".utf8)
        _ = write(STDERR_FILENO, line, line.count)
    }
}
