// SPDX-License-Identifier: Apache-2.0

extension SentenceReader {
    /// Counts of what a reader has seen; never what stood in it, a position is private.
    public struct Statistics: Hashable, Sendable {
        /// Sentences with a good frame, of any type.
        public var sentences = 0

        /// Sentences with a wrong checksum, dropped.
        public var checksumFailures = 0

        /// Sentences without a checksum, dropped.
        public var missingChecksums = 0

        /// Beginnings that did not become a sentence: cut short, too long, not text.
        public var malformed = 0

        /// Sentences of a known type with impossible fields, dropped.
        public var refused = 0

        /// Makes counts of zero.
        public init() {}

        /// Counts why a line made no sentence.
        mutating func count(_ rejection: Rejection) {
            switch rejection {
            case .malformed: malformed += 1
            case .missingChecksum: missingChecksums += 1
            case .wrongChecksum: checksumFailures += 1
            case .impossible: refused += 1
            }
        }
    }
}

/// Why a line makes no sentence.
enum Rejection: Error {
    /// It has not the form of a sentence.
    case malformed
    /// It has no checksum, and one is required.
    case missingChecksum
    /// Its checksum is another.
    case wrongChecksum
    /// Its frame is good, but not what its fields say.
    case impossible
}
