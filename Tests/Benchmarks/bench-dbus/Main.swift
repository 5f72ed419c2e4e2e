// SPDX-License-Identifier: Apache-2.0

// Measures the wrapper beside a service in C over the same libdbus, in one run on one bus, and
// prints a table of both: `make bench`.

import EventLoop
import Glibc

@main struct Main {
    static func main() {
        guard CommandLine.arguments.count == 2 else {
            print("usage: bench-dbus SHARED-FOLDER")
            exit(EX_USAGE)
        }
        signal(SIGPIPE, SIG_IGN)
        EventLoop.shared.run {
            var isMet = false
            do {
                isMet = try await Benchmark(shared: CommandLine.arguments[1]).run()
            } catch {
                print("bench-dbus: \(error)")
            }
            // Not by the end of the process: what was started is ended first.
            EventLoop.shared.stop()
            status = isMet ? EXIT_SUCCESS : EXIT_FAILURE
        }
        exit(LoopActor.assumeIsolated { status })
    }

    @LoopActor private static var status = EXIT_FAILURE
}
