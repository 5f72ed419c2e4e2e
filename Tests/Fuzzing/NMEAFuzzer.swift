// SPDX-License-Identifier: Apache-2.0

/// Streams for the reader of NMEA, in blocks that can be repeated one by one.
package struct NMEAFuzzer: Sendable {
    package static let blockSize = 64

    package private(set) var check = NMEACheck()

    private let seed: UInt64
    /// What the streams are made of.
    private let lines: [[UInt8]]

    /// Makes a fuzzer.
    ///
    /// - Parameters:
    ///   - seed: Which inputs.
    ///   - corpus: Samples, of which at least one holds a line.
    package init(seed: UInt64, corpus: [[UInt8]]) {
        self.seed = seed
        lines = corpus.flatMap { sample in
            sample.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }.map(Array.init)
        }
    }

    /// Runs the inputs of a block.
    ///
    /// - Parameter number: Which block; the same one has the same inputs.
    /// - Throws: What must not be.
    package mutating func runBlock(_ number: UInt64) throws(NMEACheck.Finding) {
        var random = SplitMix64(seed: seed &+ number &* 0x2545_f491_4f6c_dd1d)
        for _ in 0..<Self.blockSize {
            var mutator = SentenceMutator(random)
            let stream = mutator.stream(lines)
            random = mutator.random
            try check.run(stream, &random)
        }
    }
}
