// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import Glibc
import LocationClient

/// The command line's side of the location service.
@main struct Main {
    private static let usage = """
        Usage: waymark [--bus system|session|ADDRESS] monitor|where|authorization

          monitor        what this program may know, and each location as it comes
          where          one location
          authorization  what this program may know

        """

    static func main() {
        var words = CommandLine.arguments.dropFirst()
        var bus = Connection.Bus.system
        if words.first == "--bus", let value = words.dropFirst().first {
            bus = value == "system" ? .system : value == "session" ? .session : .address(value)
            words = words.dropFirst(2)
        }
        guard words.count == 1, let command = words.first.flatMap(Command.init) else {
            let isHelp = words == ["--help"]
            writeText(usage, to: isHelp ? STDOUT_FILENO : STDERR_FILENO)
            exit(isHelp ? EXIT_SUCCESS : EX_USAGE)
        }
        SignalWatch.block([SIGINT, SIGTERM])
        let session = Session(command, bus)
        EventLoop.shared.run { await session.run() }
        exit(LoopActor.assumeIsolated { session.status })
    }
}

/// Writes a text to standard output or standard error, at once.
///
/// - Parameters:
///   - text: What to write.
///   - descriptor: Where to.
/// - Returns: Whether it was written.
@discardableResult
func writeText(_ text: String, to descriptor: CInt) -> Bool {
    let bytes = Array(text.utf8)
    return write(descriptor, bytes, bytes.count) == bytes.count
}
