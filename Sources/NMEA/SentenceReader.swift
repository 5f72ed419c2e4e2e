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

    /// What the next byte is part of.
    private var place = Place.lineStart

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
            if place != .sentence {
                skip(bytes, &index)
                continue
            }
            let start = index
            while index < bytes.count, bytes[index].isSentenceText { index += 1 }
            let piece = bytes.extracting(start..<index)
            guard partial.count + piece.count < Self.maximumLength else {
                statistics.malformed += 1
                leaveSentence(to: .noise)
                continue
            }
            guard index < bytes.count else {
                collect(piece)
                return
            }
            let end = SentenceEnd(bytes[index])
            index += 1
            let sentence: Sentence?
            if partial.isEmpty {
                sentence = take(piece, end)
            } else {
                collect(piece)
                sentence = takePartial(end)
            }
            leaveSentence(to: end.nextPlace)
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
        guard place == .sentence else {
            place = .lineStart
            return
        }
        let sentence = takePartial(.line)
        leaveSentence(to: .lineStart)
        if let sentence { body(sentence) }
    }

    /// Where in the stream a byte is.
    private enum Place {
        case lineStart
        case noise
        case comment
        case sentence
    }

    /// What ends the text of a sentence.
    private enum SentenceEnd {
        case line
        case nextSentence
        case noise

        init(_ byte: UInt8) {
            switch byte {
            case .lineFeed, .carriageReturn: self = .line
            case .dollar: self = .nextSentence
            default: self = .noise
            }
        }

        var nextPlace: Place {
            switch self {
            case .line: .lineStart
            case .nextSentence: .sentence
            case .noise: .noise
            }
        }
    }

    /// Skips what is no sentence, up to and with the next `$`.
    ///
    /// A line that begins with `#` is a comment, even if it quotes a sentence.
    private mutating func skip(_ bytes: Span<UInt8>, _ index: inout Int) {
        while index < bytes.count, place != .sentence {
            switch bytes[index] {
            case .lineFeed, .carriageReturn: place = .lineStart
            case .hash where place == .lineStart: place = .comment
            case .dollar where place != .comment: place = .sentence
            default: if place == .lineStart { place = .noise }
            }
            index += 1
        }
    }

    private mutating func collect(_ piece: Span<UInt8>) {
        for index in piece.indices { partial.append(piece[index]) }
    }

    private mutating func leaveSentence(to next: Place) {
        partial.removeAll(keepingCapacity: true)
        place = next
    }

    /// Reads the sentence of which earlier chunks held the beginning, or all.
    private mutating func takePartial(_ end: SentenceEnd) -> Sentence? {
        // A copy of a reference; a span of the property would keep `self` from counting.
        let line = partial
        return take(line.span, end)
    }

    /// Reads a sentence and counts what becomes of it.
    private mutating func take(_ line: Span<UInt8>, _ end: SentenceEnd) -> Sentence? {
        // Of `$$` the first is no beginning.
        if end == .nextSentence, line.isEmpty { return nil }
        do throws(Rejection) {
            if end == .noise { throw .malformed }
            // A sentence that lost its line end is whole only if a checksum says so.
            let needsChecksum = requiresChecksum || end == .nextSentence
            let frame = try Frame(line, requiresChecksum: needsChecksum)
            statistics.sentences += 1
            return try Sentence(line, frame)
        } catch {
            statistics.count(error)
            return nil
        }
    }
}
