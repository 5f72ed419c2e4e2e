// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Geo
import Glibc
import NMEA

/// Prints the fixes of a recording as JSON, a line each, as the sources would read them.
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

/// What stands for the time of arrival of a recording, which nobody knows.
///
/// A fix that has it was made before the receiver told a date.
private let unknownTime = Timestamp(microseconds: 0)

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
        for sentence in sentences {
            assembler.add(sentence, arrivedAt: unknownTime) { print($0.json) }
        }
        if count == 0, let fix = assembler.flush() { print(fix.json) }
        // What comes from a pipe is shown as soon as it is known.
        fflush(nil)
    } while count > 0
}

extension Fix {
    /// The fix as a JSON object in one line, `null` for what is unknown.
    ///
    /// Degrees, metres, metres a second, degrees clockwise from true north.
    fileprivate var json: String {
        let time = timestamp == unknownTime ? nil : timestamp
        let members = [
            ("time", time.map { "\"\($0.iso8601)\"" }),
            ("lat", "\(coordinate.latitude)"),
            ("lon", "\(coordinate.longitude)"),
            ("alt", altitude.map { "\($0)" }),
            ("speed", speed.map { "\($0)" }),
            ("track", course.map { "\($0)" }),
            ("accuracy", "\(horizontalAccuracy)"),
        ]
        let texts = members.map { "\"\($0.0)\": \($0.1 ?? "null")" }
        return "{" + texts.joined(separator: ", ") + "}"
    }
}
