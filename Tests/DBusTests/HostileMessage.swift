// SPDX-License-Identifier: Apache-2.0

import Testing

/// Bytes that a bus should not send, by what is wrong with them.
struct HostileMessage: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let bytes: [UInt8]

    init(_ description: String, _ bytes: [UInt8]) {
        testDescription = description
        self.bytes = bytes
    }

    init(_ description: String, _ message: WireMessage) {
        self.init(description, message.bytes)
    }

    /// A call that is changed.
    private init(_ description: String, _ change: (inout WireMessage) -> Void) {
        var message = WireMessage.call("Ring")
        change(&message)
        self.init(description, message.bytes)
    }

    /// A call of a method that takes a value, with a body that does not go with its signature.
    private static func body(
        _ description: String,
        _ signature: String,
        _ body: [UInt8]
    ) -> HostileMessage {
        HostileMessage(description, WireMessage.call("Play", signature, body))
    }

    private static func variants(_ depth: Int) -> [UInt8] {
        let wrap = [1, UInt8(ascii: "v"), 0]
        return Array(repeatElement(wrap, count: depth - 1).joined()) + [1, UInt8(ascii: "y"), 0, 7]
    }
}

// MARK: Messages that are none

extension HostileMessage {
    static let malformed = headers + names + signatures + bodies

    private static let headers: [HostileMessage] = [
        .init("an unknown order of bytes") { $0.order = UInt8(ascii: "x") },
        .init("no order of bytes") { $0.order = 0 },
        .init("the other order of bytes") { $0.order = UInt8(ascii: "B") },
        .init("the type that is none") { $0.type = 0 },
        .init("another version") { $0.version = 2 },
        .init("no serial number") { $0.serial = 0 },
        .init("a body of two gigabytes") { $0.bodyLength = 0x8000_0000 },
        .init("a body of four gigabytes") { $0.bodyLength = 0xffff_ffff },
        .init("fields of a hundred megabytes") { $0.fieldsLength = 100_000_000 },
        .init("fields of four gigabytes") { $0.fieldsLength = 0xffff_ffff },
        .init("fewer fields than there are") { $0.fieldsLength = 13 },
        .init("no fields") { $0.fieldsLength = 0 },
        .init("gaps that are not empty") { $0.padding = 1 },
        .init("a call without a path") { $0.fields.remove(at: 0) },
        .init("a call without a member") { $0.fields.remove(at: 2) },
        .init("a call without anything") { $0.fields = [] },
        .init("a signal without an interface") {
            $0.type = 4
            $0.fields.remove(at: 1)
        },
        .init("an answer to nothing") { $0.type = 2 },
        .init("an answer to number 0", WireMessage.reply(to: 0)),
        .init("an error without a name") {
            $0.type = 3
            $0.fields = [.replySerial(1)]
        },
        .init("a path twice") { $0.fields.append(.path("/a")) },
        .init("descriptors that are not there") { $0.fields.append(.descriptors(3)) },
        .init("a field of another type") { $0.fields.append(.text(5, type: "s", [0x61])) },
        .init("the field that is none") { $0.fields.append(.number(0, 1)) },
        .init("a field with two values") {
            $0.fields.append(.raw([200, 2, 0x79, 0x79, 0, 1, 1]))
        },
        .init("a field without a value") { $0.fields.append(.raw([200, 0, 0])) },
        .init("a field that is cut off") { $0.fields.append(.raw([8, 1])) },
        .init("bytes of anything", Array(repeating: 0x41, count: 64)),
        .init("nothing but ones", Array(repeating: 0xff, count: 64)),
        .init("nothing but zeros", Array(repeating: 0, count: 64)),
    ]

    private static let names: [HostileMessage] = [
        .init("a path that is none") { $0.fields[0] = .path("no/path") },
        .init("an empty path") { $0.fields[0] = .path("") },
        .init("an interface that is none") { $0.fields[1] = .interface("x") },
        .init("a member that is none") { $0.fields[2] = .member("a.b") },
        .init("an empty member") { $0.fields[2] = .member("") },
        .init("a sender that is none") { $0.fields[3] = .sender("nobody") },
        .init("a destination that is none") { $0.fields[4] = .destination("no.0ne") },
        .init("a member that is no UTF-8") { $0.fields[2] = .text(3, type: "s", [0xff, 0xc0]) },
        .init("a member with a NUL") { $0.fields[2] = .text(3, type: "s", [0x61, 0, 0x62]) },
        .init("a member of 256 letters") {
            $0.fields[2] = .member(String(repeating: "a", count: 256))
        },
        .init("a name of an error that is none") {
            $0.type = 3
            $0.fields = [.replySerial(1), .errorName("tired")]
        },
        .init("the path of libdbus's own messages") {
            $0.fields[0] = .path("/org/freedesktop/DBus/Local")
        },
        .init("the interface of libdbus's own messages") {
            $0.type = 4
            $0.fields = [
                .path("/"), .interface("org.freedesktop.DBus.Local"), .member("Disconnected"),
            ]
        },
    ]

    private static let signatures: [HostileMessage] =
        [
            "(", ")", "()", "a", "a{", "a{}", "a{s}", "a{vs}", "a{sss}", "{ss}", "(s", "s)", "z",
            "sä", "r", "e", "\u{1}", String(repeating: "a", count: 33) + "y",
            String(repeating: "(", count: 33) + "y" + String(repeating: ")", count: 33),
        ].map { body("the signature “\($0)”", $0, [0, 0, 0, 0, 0, 0, 0, 0]) } + [
            body("a signature of 256 letters", String(repeating: "y", count: 256), [0]),
            .init("a body without a signature") { $0.body = [1, 2, 3, 4] },
            body("a signature without a body", "s", []),
            body("less than the signature says", "su", WireMessage.text("x")),
            body("more than the signature says", "s", WireMessage.text("x") + [0]),
        ]

    private static let bodies: [HostileMessage] = [
        body("a text that is no UTF-8", "s", [2, 0, 0, 0, 0xc3, 0x28, 0]),
        body("a text with half a surrogate pair", "s", [3, 0, 0, 0, 0xed, 0xa0, 0x80, 0]),
        body("a text with a letter in too many bytes", "s", [2, 0, 0, 0, 0xc0, 0x80, 0]),
        body("a text that ends inside a letter", "s", [1, 0, 0, 0, 0xe2, 0]),
        body("a text with a NUL", "s", [3, 0, 0, 0, 0x61, 0, 0x62, 0]),
        body("a text without a NUL behind it", "s", [1, 0, 0, 0, 0x61, 0x62]),
        body("a text of four gigabytes", "s", [0xff, 0xff, 0xff, 0xff, 0x61, 0]),
        body("a text longer than the message", "s", [9, 0, 0, 0, 0x61, 0]),
        body("a boolean that is 2", "b", [2, 0, 0, 0]),
        body("a path that is none", "o", [1, 0, 0, 0, 0x61, 0]),
        body("an empty path", "o", [0, 0, 0, 0, 0]),
        body("a signature that is none", "g", [1, 0x28, 0]),
        body("a signature longer than the message", "g", [200, 0x73, 0]),
        body("an array of four gigabytes", "ay", [0xff, 0xff, 0xff, 0xff, 0]),
        body("an array of more than the limit", "ay", [1, 0, 0, 4, 0]),
        body("an array longer than the message", "ay", [9, 0, 0, 0, 0]),
        body("an array with half an element", "au", [3, 0, 0, 0, 1, 0, 0]),
        body("an array whose last element is cut off", "as", [6, 0, 0, 0, 1, 0, 0, 0, 0x61, 0x62]),
        body("a gap that is not empty", "yu", [1, 1, 1, 1, 1, 0, 0, 0]),
        body("a gap before a structure that is not empty", "a(y)", [1, 0, 0, 0, 9, 9, 9, 9, 1]),
        body("a variant of nothing", "v", [0, 0]),
        body("a variant of two values", "v", [2, 0x79, 0x79, 0, 1, 1]),
        body("a variant of a type that is none", "v", [1, 0x28, 0, 1]),
        body("a variant without its value", "v", [1, 0x75, 0]),
        body("variants in variants, one too many", "v", variants(65)),
        body("variants in variants, thousands", "v", variants(20_000)),
    ]
}

// MARK: Messages that nobody expects

extension HostileMessage {
    static let odd: [HostileMessage] = [
        .init("a type that nobody knows") { $0.type = 5 },
        .init("the greatest type") { $0.type = 255 },
        .init("all flags") { $0.flags = 0xff },
        .init("a field that nobody knows") { $0.fields.append(.number(200, 7)) },
        .init("a field of a quarter of a megabyte") {
            $0.fields.append(.text(201, type: "s", Array(repeating: 0x61, count: 250_000)))
        },
        .init("ten thousand fields") {
            $0.fields += (0..<10_000).map { .number(UInt8(100 + $0 % 100), 7) }
        },
        .init("the greatest serial number") { $0.serial = 0xffff_ffff },
        .init("a call without an interface") { $0.fields.remove(at: 1) },
        .init("a call without a sender") { $0.fields.remove(at: 3) },
        .init("a call for somebody else") { $0.fields[4] = .destination("org.example.Other") },
        .init("a call of an object that is not there") { $0.fields[0] = .path("/nowhere") },
        .init("an answer that nobody waits for", WireMessage.reply(to: 0xffff_fff0)),
        .init("an error that nobody waits for") {
            $0.type = 3
            $0.fields = [.replySerial(0xffff_fff0), .errorName("org.example.No")]
        },
        .init("a signal with other arguments", WireMessage.signal("u", [1, 0, 0, 0])),
        .init("a signal without arguments", WireMessage.signal()),
        body("arguments of other types", "u", [1, 0, 0, 0]),
        body("as many variants in variants as there may be", "v", variants(64)),
        body("a descriptor that is not there", "v", [1, 0x68, 0, 0, 9, 0, 0, 0]),
        .init(
            "a property's value in too many variants",
            WireMessage.call(
                "Set",
                on: "org.freedesktop.DBus.Properties",
                "ssv",
                WireMessage.text("org.example.Bell") + [0, 0, 0] + WireMessage.text("Tone")
                    + variants(64)
            )
        ),
        .init(
            "a property's value of another type",
            WireMessage.call(
                "Set",
                on: "org.freedesktop.DBus.Properties",
                "ssv",
                WireMessage.text("org.example.Bell") + [0, 0, 0] + WireMessage.text("Names")
                    + variants(1)
            )
        ),
    ]
}
