// SPDX-License-Identifier: Apache-2.0

import Geo
import Glibc
import NMEA

/// The measurements and what is wanted of them.
struct Benchmark {
    let recording: Recording
    /// How many lines are read to see whether memory grows.
    let totalLines: Int

    private static let rounds = 7
    private static let target = 2_000_000.0
    /// How much memory may grow, in kB: as much as an allocator may hold back.
    private static let growthLimit = 256

    /// What one source keeps for one receiver.
    private struct Receiver {
        var reader = SentenceReader()
        var assembler = FixAssembler()
        var fixes = 0

        /// Reads a million lines in pieces, as they come from a socket.
        mutating func read(_ bytes: [UInt8]) {
            let arrival = Timestamp(microseconds: 1_750_000_000_000_000)
            var start = 0
            while start < bytes.count {
                let end = min(start + 65_536, bytes.count)
                reader.append(bytes[start..<end]) { sentence in
                    assembler.add(sentence, arrivedAt: arrival) { fix in
                        if fix.horizontalAccuracy > 0 { fixes += 1 }
                    }
                }
                start = end
            }
        }
    }

    /// Measures, prints a table, and tells whether all is as wanted.
    func run() -> Bool {
        var receiver = Receiver()
        receiver.read(recording.bytes)
        let checked = receiver.reader.statistics
        print(
            """
            \(recording.lineCount) lines, \(recording.bytes.count) bytes: \
            \(checked.sentences) sentences with the right checksum, \(checked.checksumFailures) \
            with a wrong one, \(checked.missingChecksums) without, \(checked.malformed) broken, \
            \(checked.refused) refused; \(receiver.fixes) fixes

            """
        )
        var all: [Double] = []
        for _ in 0..<Self.rounds {
            all.append(Double(recording.lineCount) / seconds { receiver.read(recording.bytes) })
        }
        row("all lines a second", all, isMet: median(all) >= Self.target)
        compare(&receiver)
        return memory(&receiver) && median(all) >= Self.target
    }

    /// Reads the lines that are text side by side with gpsbabel, if it is installed.
    private func compare(_ receiver: inout Receiver) {
        let text = recording.text
        guard let babel = Gpsbabel(text) else {
            print("gpsbabel (Debian's, in C++): skipped, it is not installed")
            return
        }
        var own: [Double] = []
        var others: [Double] = []
        for _ in 0..<3 {
            own.append(Double(text.lineCount) / seconds { receiver.read(text.bytes) })
            if let time = babel.seconds() { others.append(Double(text.lineCount) / time) }
        }
        row("text lines a second", own, isMet: nil)
        guard !others.isEmpty else { return print("gpsbabel (Debian's, in C++): it failed") }
        row("the same lines, gpsbabel (Debian's, in C++)", others, isMet: nil)
        print("ratio of the medians: \(rounded(median(own) / median(others)))")
    }

    /// Reads on, and tells how the process has grown.
    private func memory(_ receiver: inout Receiver) -> Bool {
        let passes = max(1, (totalLines + recording.lineCount - 1) / recording.lineCount)
        let before = residentKilobytes()
        var most = before
        for _ in 0..<passes {
            receiver.read(recording.bytes)
            most = max(most, residentKilobytes())
        }
        let isMet = most - before <= Self.growthLimit
        print(
            """
            memory over \(passes * recording.lineCount) lines: \(before) kB, at most +\
            \(most - before) kB, wanted <= +\(Self.growthLimit)  \(isMet ? "ok" : "MISSED")
            """
        )
        return isMet
    }

    private func row(_ name: String, _ figures: [Double], isMet: Bool?) {
        let range = "\(Int(figures.min() ?? 0)) to \(Int(figures.max() ?? 0))"
        let verdict =
            isMet.map { ", wanted >= \(Int(Self.target))  \($0 ? "ok" : "MISSED")" } ?? ""
        print("\(name): \(Int(median(figures))) (\(range))\(verdict)")
    }

    private func rounded(_ number: Double) -> Double { (number * 100).rounded() / 100 }

    private func median(_ figures: [Double]) -> Double {
        let sorted = figures.sorted()
        return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }
}

/// How long something takes.
func seconds(_ body: () -> Void) -> Double {
    let clock = ContinuousClock()
    return clock.measure(body) / .seconds(1)
}

/// The resident memory of this process, as the kernel counts it.
private func residentKilobytes() -> Int {
    guard let file = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(file) }
    var text = [CChar](repeating: 0, count: 128)
    guard fgets(&text, CInt(text.count), file) != nil else { return 0 }
    let line = String(
        decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) },
        as: UTF8.self
    )
    return (Int(line.split(separator: " ")[1]) ?? 0) * sysconf(CInt(_SC_PAGESIZE)) / 1024
}
