// SPDX-License-Identifier: Apache-2.0

/// Whether bytes are one object of JSON (RFC 8259), without keeping anything of it.
///
/// libgps reads reports, but some lines that are no JSON keep it busy for ever. So it is shown only
/// what is: nobody who gets hold of gpsd's port can stop the service.
struct JSONSyntax {
    private let bytes: [UInt8]
    private var index = 0

    /// Deeper than any report of gpsd is.
    private static let deepest = 8

    /// Whether all of the bytes are one object.
    static func isObject(_ bytes: some Collection<UInt8>) -> Bool {
        var syntax = JSONSyntax(bytes: Array(bytes))
        syntax.skipBlanks()
        guard syntax.next == UInt8(ascii: "{"), syntax.value(depth: 0) else { return false }
        syntax.skipBlanks()
        return syntax.index == syntax.bytes.count
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skipBlanks() {
        while let byte = next, byte == 32 || byte == 9 || byte == 13 || byte == 10 { index += 1 }
    }

    private mutating func accept(_ letter: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: letter) else { return false }
        index += 1
        return true
    }

    private mutating func value(depth: Int) -> Bool {
        guard depth <= Self.deepest else { return false }
        switch next {
        case UInt8(ascii: "{"): return list(depth, end: "}") { $0.member(depth) }
        case UInt8(ascii: "["): return list(depth, end: "]") { $0.value(depth: depth + 1) }
        case UInt8(ascii: "\""): return string()
        case UInt8(ascii: "t"): return word("true")
        case UInt8(ascii: "f"): return word("false")
        case UInt8(ascii: "n"): return word("null")
        default: return number()
        }
    }

    private mutating func list(
        _ depth: Int,
        end: Unicode.Scalar,
        _ element: (inout JSONSyntax) -> Bool
    ) -> Bool {
        index += 1
        skipBlanks()
        if accept(end) { return true }
        while true {
            skipBlanks()
            guard element(&self) else { return false }
            skipBlanks()
            if accept(end) { return true }
            guard accept(",") else { return false }
        }
    }

    private mutating func member(_ depth: Int) -> Bool {
        guard string() else { return false }
        skipBlanks()
        guard accept(":") else { return false }
        skipBlanks()
        return value(depth: depth + 1)
    }

    private mutating func string() -> Bool {
        guard accept("\"") else { return false }
        while let byte = next {
            index += 1
            switch byte {
            case UInt8(ascii: "\""): return true
            case UInt8(ascii: "\\"):
                guard next != nil else { return false }
                index += 1
            case 0..<32: return false
            default: break
            }
        }
        return false
    }

    private mutating func word(_ word: String) -> Bool {
        for byte in word.utf8 {
            guard next == byte else { return false }
            index += 1
        }
        return true
    }

    private mutating func number() -> Bool {
        _ = accept("-")
        guard digits() else { return false }
        if accept("."), !digits() { return false }
        if accept("e") || accept("E") {
            if !accept("+") { _ = accept("-") }
            return digits()
        }
        return true
    }

    private mutating func digits() -> Bool {
        let start = index
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
            index += 1
        }
        return index > start
    }
}
