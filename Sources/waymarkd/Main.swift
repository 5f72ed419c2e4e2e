// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc

@main struct Main {
    static func main() {
        let options: Options
        do {
            options = try Options()
        } catch {
            failUsage(error.description)
        }
        if let file = options.decodedFile { exit(decode(file)) }
        // Signals are the event loop's from here on; a peer that hangs up is an error of a write.
        SignalWatch.block([SIGTERM, SIGINT, SIGHUP])
        signal(SIGPIPE, SIG_IGN)
        let daemon = Daemon(options)
        EventLoop.shared.run { await daemon.start() }
        exit(LoopActor.assumeIsolated { daemon.status })
    }

    private static func failUsage(_ message: String) -> Never {
        printError("\(message)\nTry `waymarkd --help' for what there is.")
        exit(EX_USAGE)
    }
}

/// Writes a line to standard error.
func printError(_ message: String) {
    let line = Array("waymarkd: \(message)\n".utf8)
    _ = write(STDERR_FILENO, line, line.count)
}
