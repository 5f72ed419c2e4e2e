// SPDX-License-Identifier: Apache-2.0

/// A message put together by hand, so that it can be wrong in ways that no library makes.
struct WireMessage: Sendable {
    /// One field of the header, whose type should go with its number.
    enum Field: Sendable {
        case text(UInt8, type: Character, [UInt8])
        case number(UInt8, UInt32)
        case signature(UInt8, [UInt8])
        case raw([UInt8])

        static func path(_ text: String) -> Field { .text(1, type: "o", Array(text.utf8)) }
        static func interface(_ text: String) -> Field { .text(2, type: "s", Array(text.utf8)) }
        static func member(_ text: String) -> Field { .text(3, type: "s", Array(text.utf8)) }
        static func errorName(_ text: String) -> Field { .text(4, type: "s", Array(text.utf8)) }
        static func replySerial(_ number: UInt32) -> Field { .number(5, number) }
        static func destination(_ text: String) -> Field { .text(6, type: "s", Array(text.utf8)) }
        static func sender(_ text: String) -> Field { .text(7, type: "s", Array(text.utf8)) }
        static func signature(_ text: String) -> Field { .signature(8, Array(text.utf8)) }
        static func descriptors(_ count: UInt32) -> Field { .number(9, count) }
    }

    var order = UInt8(ascii: "l")
    var type: UInt8
    var flags: UInt8 = 0
    var version: UInt8 = 1
    var serial: UInt32 = 1000
    /// The length that is told instead of the body's.
    var bodyLength: UInt32?
    /// The length that is told instead of that of the fields.
    var fieldsLength: UInt32?
    /// The byte that fills gaps.
    var padding: UInt8 = 0
    var fields: [Field] = []
    var body: [UInt8] = []

    var bytes: [UInt8] {
        var writer = Writer(padding: padding)
        writer.bytes = [order, type, flags, version]
        writer.number(bodyLength ?? UInt32(body.count))
        writer.number(serial)
        writer.number(0)
        for field in fields { writer.field(field) }
        let length = fieldsLength ?? UInt32(writer.bytes.count - 16)
        withUnsafeBytes(of: length.littleEndian) {
            writer.bytes.replaceSubrange(12..<16, with: $0)
        }
        writer.align(8)
        return writer.bytes + body
    }

    private struct Writer {
        var bytes: [UInt8] = []
        let padding: UInt8

        init(padding: UInt8) { self.padding = padding }

        mutating func align(_ boundary: Int) {
            while bytes.count % boundary != 0 { bytes.append(padding) }
        }

        mutating func number(_ number: UInt32) {
            align(4)
            withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
        }

        mutating func field(_ field: Field) {
            align(8)
            switch field {
            case .text(let code, let type, let text):
                bytes += [code, 1, type.asciiValue ?? 0, 0]
                number(UInt32(text.count))
                bytes += text + [0]
            case .number(let code, let value):
                bytes += [code, 1, UInt8(ascii: "u"), 0]
                number(value)
            case .signature(let code, let text):
                bytes += [code, 1, UInt8(ascii: "g"), 0, UInt8(truncatingIfNeeded: text.count)]
                bytes += text + [0]
            case .raw(let raw): bytes += raw
            }
        }
    }
}

extension WireMessage {
    /// A call of the service under test.
    static func call(
        _ member: String,
        on interface: String = "org.example.Bell",
        _ signature: String = "",
        _ body: [UInt8] = []
    ) -> WireMessage {
        var fields: [Field] = [
            .path("/"), .interface(interface), .member(member), .sender(":1.42"),
            .destination(":1.7"),
        ]
        if !signature.isEmpty { fields.append(.signature(signature)) }
        return WireMessage(type: 1, fields: fields, body: body)
    }

    /// A signal that the service under test listens for.
    static func signal(_ signature: String = "", _ body: [UInt8] = []) -> WireMessage {
        var fields: [Field] = [
            .path("/"), .interface("org.example.Bell"), .member("Rung"), .sender(":1.42"),
        ]
        if !signature.isEmpty { fields.append(.signature(signature)) }
        return WireMessage(type: 4, fields: fields, body: body)
    }

    /// The answer to a call.
    static func reply(
        to serial: UInt32,
        _ signature: String = "",
        _ body: [UInt8] = []
    ) -> WireMessage {
        var fields: [Field] = [.replySerial(serial), .sender("org.freedesktop.DBus")]
        if !signature.isEmpty { fields.append(.signature(signature)) }
        return WireMessage(type: 2, fields: fields, body: body)
    }

    /// A text as it stands in a body whose place is a multiple of four.
    static func text(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        return withUnsafeBytes(of: UInt32(bytes.count).littleEndian) { Array($0) } + bytes + [0]
    }
}
