// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import Fuzzing
import TestKit
import Testing

/// Types that are known to the compiler, with random contents, through a real bus and back.
@Suite @LoopActor struct TypedRoundTripTests {
    private static let seeds = Array(1...40 as ClosedRange<UInt64>)

    /// Sends what a closure makes, for each seed, to a method of the same type and compares what
    /// it returns by the closure given.
    private func exchange<Content: DBusCodable>(
        _ make: (inout ValueGenerator) -> Content,
        isSame: (Content, Content) -> Bool
    ) async throws {
        let bus = try await PrivateBus.start()
        let (service, client) = (try await bus.connect(), try await bus.connect())
        let echo = Interface(
            "org.example.Echo",
            [.method("Echo", in: ["it"], out: ["it"]) { (_, it: Content) in it }]
        )
        service.export([echo], at: "/")
        for seed in Self.seeds {
            var generator = ValueGenerator(seed: seed)
            let content = make(&generator)
            let reply = try await client.call(
                "Echo",
                on: "org.example.Echo",
                at: "/",
                of: service.uniqueName,
                content
            )
            let result = try reply.results(Content.self)
            #expect(isSame(result, content), "seed \(seed)")
        }
    }

    private func exchange<Content: DBusCodable & Equatable>(
        _ make: (inout ValueGenerator) -> Content
    ) async throws {
        try await exchange(make, isSame: ==)
    }

    @Test func `tables of lists of numbers`() async throws {
        try await exchange { generator -> [String: [Int64]] in
            generator.table { ($0.text(), $0.list { $0.number() }) }
        }
    }

    @Test func `lists of lists of doubles, bit by bit`() async throws {
        try await exchange { generator -> [[Double]] in
            generator.list { $0.list { $0.double() } }
        } isSame: { left, right in
            left.map { $0.map(\.bitPattern) } == right.map { $0.map(\.bitPattern) }
        }
    }

    @Test func `tables of values of any type`() async throws {
        try await exchange { generator -> [String: Value] in
            generator.table { ($0.text(), $0.variantContent()) }
        } isSame: { left, right in
            left.keys == right.keys
                && left.allSatisfy { right[$0.key]?.isIdentical(to: $0.value) == true }
        }
    }

    @Test func `lists of values of any type`() async throws {
        try await exchange { generator -> [Value] in
            generator.list { $0.variantContent() }
        } isSame: {
            $0.isIdentical(to: $1)
        }
    }

    @Test func `tables with numbers for keys`() async throws {
        try await exchange { generator -> [Int16: [UInt64: [Bool]]] in
            generator.table {
                ($0.number(), $0.table { ($0.number(), $0.list { $0.number() as UInt8 > 127 }) })
            }
        }
    }

    @Test func `tables with paths for keys and signatures in them`() async throws {
        try await exchange { generator -> [ObjectPath: [Signature]] in
            generator.table { generator in
                let path = "/" + String(generator.number() as UInt32)
                let types = generator.list { $0.types.type(in: Room(), depth: 2).signature }
                return (
                    ObjectPath(unchecked: path), types.map { Signature(unchecked: $0) }
                )
            }
        }
    }

    @Test func `structures in tables, with structures and lists in them`() async throws {
        try await exchange {
            generator -> [String: [Struct<Int16, Struct<String, [UInt8]>, Bool, [UInt64: Int32]>]]
            in
            generator.table { generator in
                let structures = generator.list { generator in
                    Struct(
                        generator.number() as Int16,
                        Struct(generator.text(), generator.list { $0.number() as UInt8 }),
                        generator.types.random.oneIn(2),
                        generator.table { ($0.number() as UInt64, $0.number() as Int32) }
                    )
                }
                return (generator.text(), structures)
            }
        }
    }

    @Test func `variants of types that are known`() async throws {
        try await exchange { generator -> [Variant<[String: Struct<UInt32, String>]>] in
            generator.list { generator in
                Variant(generator.table { ($0.text(), Struct($0.number() as UInt32, $0.text())) })
            }
        } isSame: { left, right in
            left.map(\.content) == right.map(\.content)
        }
    }

    @Test func `bytes, and lists of small numbers between them`() async throws {
        try await exchange { generator -> [[UInt8]] in
            generator.list { $0.list { $0.number() } }
        }
        try await exchange { generator -> [[[UInt16]]] in
            generator.list { $0.list { $0.list { $0.number() } } }
        }
    }
}

extension ValueGenerator {
    fileprivate mutating func list<Element>(_ element: (inout Self) -> Element) -> [Element] {
        (0..<types.random.below(8)).map { _ in element(&self) }
    }

    fileprivate mutating func table<Key: Hashable, Content>(
        _ entry: (inout Self) -> (Key, Content)
    ) -> [Key: Content] {
        Dictionary(list(entry)) { first, _ in first }
    }

    /// A value for a variant that is itself in a container.
    fileprivate mutating func variantContent() -> Value {
        let room = Room().inDictionary.inVariant
        let type = types.type(in: room, depth: 4)
        budget = 20
        return value(of: type, in: room)
    }
}
