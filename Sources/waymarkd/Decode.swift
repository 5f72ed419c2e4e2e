// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Geo
import Glibc
import NMEA

/// Prints the fixes of a recording, a line each, as the sources would read them.
///
/// - Parameter file: The recording's path, `-` for standard input.
/// - Returns: The process's exit status.
func decode(_ file: String) -> Int32 {
    do {
        if file == "-" {
            try decode(STDIN_FILENO, name: "standard input")
        } else {
            let descriptor = try Descriptor("open \(file)") { open(file, O_RDONLY | O_CLOEXEC) }
            try decode(descriptor.number, name: file)
        }
        return EXIT_SUCCESS
    } catch {
        printError("\(error)")
        return EXIT_FAILURE
    }
}

private func decode(_ descriptor: CInt, name: String) throws(SystemError) {
    var reader = SentenceReader()
    var assembler = FixAssembler()
    var buffer = [UInt8](repeating: 0, count: 65_536)
    var count = 0
    repeat {
        count = try retryingOnInterrupt("read \(name)") {
            read(descriptor, &buffer, buffer.count)
        }
        var sentences: [Sentence] = []
        reader.append(buffer[..<count]) { sentences.append($0) }
        if count == 0 { reader.endLine { sentences.append($0) } }
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let arrival = Timestamp(
            microseconds: Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000
        )
        for sentence in sentences {
            assembler.add(sentence, arrivedAt: arrival) { print($0.line) }
        }
        // What comes from a pipe is shown as soon as the pipe is empty.
        if count < buffer.count, let fix = assembler.flush() { print(fix.line) }
        fflush(nil)
    } while count > 0
}

extension Fix {
    /// The fix in one line: words with their values, in the units of the D-Bus interface.
    fileprivate var line: String {
        var words = [
            "timestamp=\(timestamp.microseconds)",
            "latitude=\(coordinate.latitude)",
            "longitude=\(coordinate.longitude)",
            "horizontal-accuracy=\(horizontalAccuracy)",
        ]
        func add(_ name: String, _ value: Double?) {
            if let value { words.append("\(name)=\(value)") }
        }
        add("altitude", altitude)
        add("ellipsoidal-altitude", ellipsoidalAltitude)
        add("vertical-accuracy", verticalAccuracy)
        add("speed", speed)
        add("course", course)
        if isSimulated { words.append("simulated") }
        return words.joined(separator: " ")
    }
}
