// SPDX-License-Identifier: Apache-2.0

/// Inputs for the decoder, in blocks that share a message and can be repeated one by one.
package struct MessageFuzzer: Sendable {
    package static let blockSize = 32

    package private(set) var check = DecodingCheck()

    private let seed: UInt64
    /// What pieces are taken from.
    private let others: [[UInt8]]

    package init(seed: UInt64) {
        self.seed = seed
        var generator = MessageGenerator(seed: seed)
        others = (0..<64).map { _ in generator.message(size: 30).bytes }
    }

    /// Runs the inputs of a block.
    ///
    /// - Parameter number: Which block; the same one has the same inputs.
    /// - Throws: What must not be.
    package mutating func runBlock(_ number: UInt64) throws(DecodingCheck.Finding) {
        var random = SplitMix64(seed: seed &+ number &* 0x2545_f491_4f6c_dd1d)
        var generator = MessageGenerator(seed: random.next())
        let (base, map) = generator.message(size: random.pick([1, 4, 10, 30]))
        var mutator = Mutator(random)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(base.count + 256)
        for index in 0..<Self.blockSize {
            bytes.removeAll(keepingCapacity: true)
            bytes.append(contentsOf: base)
            if index % 2 == 0 {
                mutator.changeValues(&bytes, map)
            } else {
                mutator.changeStructure(&bytes, map, other: mutator.random.pick(others))
            }
            do {
                try check.run(bytes)
            } catch {
                let digits = bytes.map { String($0, radix: 16) }.joined(separator: " ")
                throw DecodingCheck.Finding("\(error)\nfor the bytes: \(digits)")
            }
        }
    }
}
