// SPDX-License-Identifier: Apache-2.0

// Damaged streams for the reader of NMEA: fuzz-nmea [--count N] [--seed N] [--first N] CORPUS
//
// The inputs come in blocks, made of the samples in the folder CORPUS; what was found, or crashed,
// is found again with the seed and the block that are printed.

import Fuzzing
import Glibc

func option(_ name: String, _ standard: UInt64) -> UInt64 {
    let arguments = CommandLine.arguments
    guard let index = arguments.firstIndex(of: name) else { return standard }
    guard index + 1 < arguments.count, let number = UInt64(arguments[index + 1]) else {
        print("\(name) needs a number")
        exit(2)
    }
    return number
}

let count = option("--count", 100_000)
let seed = option("--seed", 1)
let first = option("--first", 0)

let samples = corpus(CommandLine.arguments.last ?? "")
guard !samples.isEmpty else {
    print("fuzz-nmea: there are no samples in “\(CommandLine.arguments.last ?? "")”")
    exit(2)
}

let start = ContinuousClock.now
var fuzzer = NMEAFuzzer(seed: seed, corpus: samples)
let size = UInt64(NMEAFuzzer.blockSize)
for block in first..<first + (count + size - 1) / size {
    LastWords.set("at --seed \(seed) --first \(block)\n")
    // No block takes seconds: one that does hangs.
    alarm(20)
    do {
        try fuzzer.runBlock(block)
    } catch {
        print("fuzz-nmea: \(error)\nat --seed \(seed) --first \(block)")
        exit(1)
    }
}
alarm(0)

let counts = fuzzer.check.counts
let seconds = (ContinuousClock.now - start) / .seconds(1)
var usage = rusage()
getrusage(CInt(RUSAGE_SELF.rawValue), &usage)
print(
    "fuzz-nmea: \(counts.inputs) inputs in \(Int(seconds)) s, \(Int(Double(counts.inputs) / seconds))"
        + " a second: \(counts.bytes) bytes, \(counts.sentences) sentences, \(counts.fixes) fixes;"
        + " at most \(usage.ru_maxrss / 1024) MiB; seed \(seed)"
)
// With fewer the inputs would be of no use.
exit(counts.fixes > counts.inputs / 3 ? 0 : 1)
