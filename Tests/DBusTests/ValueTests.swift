// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import TestKit
import Testing

/// Values whose form is only known at run time: what the bus cannot carry must be an error here,
/// since libdbus ends the process for it, and the bus the connection.
@Suite @LoopActor struct ValueTests {
    @LoopActor private struct Echo {
        let bus: PrivateBus
        let service: Connection
        let client: Connection

        init() async throws {
            bus = try await PrivateBus.start()
            service = try await bus.connect()
            client = try await bus.connect()
            let echo = Interface(
                "org.example.Echo",
                [
                    .method("Value", in: ["value"], out: ["value"]) { (_, value: Value) in value },
                    .method("Text", in: ["text"], out: ["text"]) { (_, text: String) in text },
                    .method("Table", in: ["table"], out: ["table"]) {
                        (_, table: [String: UInt32]) in table
                    },
                ]
            )
            service.export([echo], at: "/")
        }

        func call<Argument: DBusCodable>(
            _ member: MemberName,
            _ argument: Argument
        ) async throws -> Reply {
            try await client.call(
                member,
                on: "org.example.Echo",
                at: "/",
                of: service.uniqueName,
                argument
            )
        }

        func callAsFunction(_ value: Value) async throws -> Value {
            try await call("Value", value).results(Value.self)
        }
    }

    private func nested(_ depth: Int, _ wrap: (Value) -> Value) -> Value {
        (0..<depth).reduce(.byte(7)) { value, _ in wrap(value) }
    }

    @Test func `containers nest as deep as the specification allows, no deeper`() async throws {
        let echo = try await Echo()
        let shapes: [(limit: Int, wrap: (Value) -> Value)] = [
            (32, { .array(of: $0.signature, [$0]) }),
            (32, { .structure([$0]) }),
            // One of the 64 is the variant that the argument itself is.
            (63, { .variant($0) }),
        ]
        for shape in shapes {
            let deepest = nested(shape.limit, shape.wrap)
            #expect(try await echo(deepest) == deepest)
            await #expect(throws: DBusError.self) {
                try await echo(nested(shape.limit + 1, shape.wrap))
            }
            await #expect(throws: DBusError.self) { try await echo(nested(300, shape.wrap)) }
        }
        #expect(try await echo(.byte(1)) == .byte(1))
    }

    @Test(arguments: [
        Value.structure([]),
        .variant(.structure([])),
        .array(of: Signature(unchecked: "()"), []),
        .array(of: "su", []),
        .array(of: "", []),
        .array(of: "s", [.byte(1)]),
        .array(of: "v", ["not in a variant"]),
        .array(of: Signature(unchecked: "nonsense"), []),
        .dictionary(key: "v", value: "s", []),
        .dictionary(key: "as", value: "s", []),
        .dictionary(key: "s", value: "", []),
        .dictionary(key: "s", value: "ss", []),
        .dictionary(key: "s", value: "u", [.init(key: "k", value: .bool(true))]),
        .dictionary(key: "s", value: "u", [.init(key: .byte(1), value: .uint32(1))]),
        .structure([.structure([]), .byte(1)]),
        .structure(Array(repeating: .byte(1), count: 255)),
        .string("a\0b"),
        .structure(["fine", .array(of: "s", ["a", "b\0"])]),
    ])
    func `what has no form on the bus is refused, and the connection goes on`(
        value: Value
    ) async throws {
        let echo = try await Echo()
        await #expect(throws: DBusError.self) { try await echo(value) }
        #expect(try await echo("after") == "after")
        #expect(echo.client.isOpen && echo.service.isOpen)
    }

    @Test func `a handler's result that has no form is answered by an error`() async throws {
        let echo = try await Echo()
        let bad = Interface(
            "org.example.Bad",
            [.method("Get", out: ["value"]) { _ in Value.array(of: "s", [.byte(1)]) }]
        )
        echo.service.export([bad], at: "/bad")
        await #expect(throws: DBusError.self) {
            try await echo.client.call(
                "Get",
                on: "org.example.Bad",
                at: "/bad",
                of: echo.service.uniqueName
            )
        }
        #expect(try await echo("after") == "after")
    }

    @Test func `of a key that comes twice, a table keeps the later and a value both`() async throws
    {
        let echo = try await Echo()
        let twice = Value.dictionary(
            key: "s",
            value: "u",
            [.init(key: "k", value: .uint32(1)), .init(key: "k", value: .uint32(2))]
        )
        #expect(try await echo(twice) == twice)
        let answer = try await echo.call("Table", Twice())
        let table = try answer.results([String: UInt32].self)
        #expect(table.count == 1 && table["k"] == 2)
    }

    /// A table with one key twice, which no Swift dictionary can be.
    private struct Twice: DBusCodable {
        static var signature: Signature { "a{su}" }
        init() {}
        init(from reader: inout MessageReader) throws(DBusError) {
            _ = try [String: UInt32](from: &reader)
        }
        func encode(into writer: inout MessageWriter) throws(DBusError) {
            try writer.appendArray(of: Signature(unchecked: "{su}")) { writer throws(DBusError) in
                try writer.appendEntry("k", UInt32(1))
                try writer.appendEntry("k", UInt32(2))
            }
        }
    }

    @Test func `five million letters go there and back`() async throws {
        let echo = try await Echo()
        let text = String(repeating: "fünf🛰!", count: 500_000)
        #expect(try await echo.call("Text", text).results(String.self) == text)
    }

    @Test func `names are checked when they are made`() {
        #expect(ObjectPath(validating: "") == nil)
        #expect(ObjectPath(validating: "/a/") == nil)
        #expect(ObjectPath(validating: "/ä") == nil)
        #expect(Signature(validating: "(") == nil)
        #expect(Signature(validating: "a{vs}") == nil)
        #expect(Signature(validating: String(repeating: "y", count: 256)) == nil)
        #expect(Signature(validating: String(repeating: "a", count: 33) + "y") == nil)
        #expect(Signature(validating: "")?.isSingle == false)
        #expect(BusName(validating: String(repeating: "a.", count: 200) + "b") == nil)
        #expect(InterfaceName(validating: "org..example") == nil)
        #expect(ErrorName(validating: "no dots") == nil)
        #expect(MemberName(validating: "") == nil)
    }
}
