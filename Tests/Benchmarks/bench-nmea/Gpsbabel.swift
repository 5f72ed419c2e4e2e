// SPDX-License-Identifier: Apache-2.0

import Glibc

/// gpsbabel, which reads NMEA and checks checksums in C++: the reader that Debian has packaged.
///
/// It keeps all points, and its start is in the time; both are small beside a million lines.
struct Gpsbabel: ~Copyable {
    private let path: String

    /// Writes the lines to a file for it, or makes `nil` if it is not installed.
    init?(_ recording: Recording) {
        path = "/tmp/bench-nmea.\(getpid()).nmea"
        guard system("command -v gpsbabel > /dev/null 2>&1") == 0, let file = fopen(path, "w")
        else { return nil }
        fwrite(recording.bytes, 1, recording.bytes.count, file)
        fclose(file)
    }

    deinit { unlink(path) }

    /// How long it takes to read all lines, `nil` if it fails.
    func seconds() -> Double? {
        var status: CInt = 0
        let command = "gpsbabel -i nmea -f \(path) > /dev/null 2>&1"
        let time = bench_nmea.seconds { status = system(command) }
        return status == 0 ? time : nil
    }
}
