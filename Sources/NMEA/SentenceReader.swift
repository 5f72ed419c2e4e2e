// SPDX-License-Identifier: Apache-2.0

/// Finds the sentences of NMEA 0183 in a stream of bytes, however the stream is cut.
///
/// A sentence begins with `$` and ends with a line feed, a carriage return or any mixture of
/// them. Everything else is noise and skipped: comments, blank lines, a modem's answers, binary
/// protocols on the same line. A `$` always begins a sentence, so one that was cut short costs
/// only itself, and a doubled `$$` nothing. What is wrong is counted and never thrown: a
/// receiver that is switched off and on again says wrong things all the time.
public struct SentenceReader: Sendable {
    /// The most bytes of one sentence, from `$` on and without the line's end.
    ///
    /// The standard has 82; high-precision receivers and proprietary sentences pass it.
    public static let maximumLength = 255

    /// Whether a sentence without checksum is dropped; one with a wrong checksum always is.
    public var requiresChecksum: Bool

    /// What has been read so far.
    public private(set) var statistics = Statistics()

    /// The begun sentence after its `$`, as far as earlier chunks held it.
    private var partial: [UInt8] = []

    /// Whether a `$` has been read and its sentence may still become a good one.
    private var isInSentence = false

    /// Makes a reader at the start of a stream.
    ///
    /// - Parameter requiresChecksum: Whether a sentence without checksum is dropped.
    public init(requiresChecksum: Bool = true) {
        self.requiresChecksum = requiresChecksum
        partial.reserveCapacity(Self.maximumLength)
    }

    /// Reads the next bytes of the stream.
    ///
    /// - Parameters:
    ///   - bytes: Any number of bytes, cut anywhere.
    ///   - body: Called for every sentence that is complete, checked and of use for a fix.
    public mutating func append(_ bytes: Span<UInt8>, _ body: (Sentence) -> Void) {
        var index = 0
        while index < bytes.count {
            if !isInSentence {
                while index < bytes.count, bytes[index] != .dollar { index += 1 }
                guard index < bytes.count else { return }
                index += 1
                isInSentence = true
            }
            let start = index
            while index < bytes.count, bytes[index].isSentenceText { index += 1 }
            guard hasRoom(for: index - start) else {
                statistics.malformed += 1
                leaveSentence()
                continue
            }
            guard index < bytes.count else {
                collect(bytes, from: start)
                return
            }
            let terminator = Terminator(bytes[index])
            let sentence: Sentence?
            if partial.isEmpty {
                sentence = take(bytes.extracting(start..<index), endedBy: terminator)
            } else {
                collect(bytes.extracting(start..<index), from: 0)
                sentence = takePartial(endedBy: terminator)
            }
            index += 1
            leaveSentence()
            isInSentence = terminator == .dollar
            if let sentence { body(sentence) }
        }
    }

    /// Reads the next bytes of the stream from an array.
    ///
    /// - Parameters:
    ///   - bytes: Any number of bytes, cut anywhere.
    ///   - body: Called for every sentence that is complete, checked and of use for a fix.
    public mutating func append(_ bytes: [UInt8], _ body: (Sentence) -> Void) {
        append(bytes.span, body)
    }

    /// Reads the next bytes of the stream from a slice of an array.
    ///
    /// - Parameters:
    ///   - bytes: Any number of bytes, cut anywhere.
    ///   - body: Called for every sentence that is complete, checked and of use for a fix.
    public mutating func append(_ bytes: ArraySlice<UInt8>, _ body: (Sentence) -> Void) {
        append(bytes.span, body)
    }

    /// Ends the current line as a line feed does.
    ///
    /// For the end of a file, of a datagram or of a text that comes without a last line feed.
    ///
    /// - Parameter body: Called if this completes a sentence.
    public mutating func endLine(_ body: (Sentence) -> Void) {
        guard isInSentence else { return }
        let sentence = takePartial(endedBy: .lineEnd)
        leaveSentence()
        if let sentence { body(sentence) }
    }

    /// What ended the text of a sentence.
    private enum Terminator {
        case lineEnd
        case dollar
        case noise

        init(_ byte: UInt8) {
            switch byte {
            case .lineFeed, .carriageReturn: self = .lineEnd
            case .dollar: self = .dollar
            default: self = .noise
            }
        }
    }

    private func hasRoom(for count: Int) -> Bool {
        partial.count + count < Self.maximumLength
    }

    private mutating func collect(_ bytes: Span<UInt8>, from start: Int) {
        for index in start..<bytes.count { partial.append(bytes[index]) }
    }

    private mutating func leaveSentence() {
        partial.removeAll(keepingCapacity: true)
        isInSentence = false
    }

    /// Reads the sentence of which earlier chunks held the beginning, or all.
    private mutating func takePartial(endedBy terminator: Terminator) -> Sentence? {
        // A copy of a reference; a span of the property would keep `self` from counting.
        let line = partial
        return take(line.span, endedBy: terminator)
    }

    /// Reads a sentence and counts what becomes of it.
    private mutating func take(_ line: Span<UInt8>, endedBy terminator: Terminator) -> Sentence? {
        // Of `$$` the first is no beginning.
        if terminator == .dollar, line.isEmpty { return nil }
        do throws(Rejection) {
            if terminator == .noise { throw .malformed }
            // A sentence that lost its line end is whole only if a checksum says so.
            let frame = try Frame(
                line,
                requiresChecksum: requiresChecksum || terminator == .dollar
            )
            statistics.sentences += 1
            return try Sentence(line, frame)
        } catch {
            statistics.count(error)
            return nil
        }
    }
}
