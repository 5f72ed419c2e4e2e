// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import Glibc
import TestKit
import Testing

/// Types that are known at compile time: structures, types of the user's own, arrays of numbers,
/// descriptors, and what messages of them may weigh.
@Suite @LoopActor struct TypedValueTests {
    struct Place: DBusConvertible, Hashable {
        var latitude: Double
        var longitude: Double
        var gait: Gait

        init(latitude: Double, longitude: Double, gait: Gait) {
            (self.latitude, self.longitude, self.gait) = (latitude, longitude, gait)
        }

        var dbusForm: Struct<Struct<Double, Double>, Gait> {
            Struct(Struct(latitude, longitude), gait)
        }

        init(dbusForm form: Struct<Struct<Double, Double>, Gait>) {
            let (point, gait) = form.members
            (latitude, longitude) = point.members
            self.gait = gait
        }
    }

    enum Gait: String, DBusConvertible { case walking, running }

    @LoopActor private struct Echo {
        static let interface: InterfaceName = "org.example.Echo"
        let bus: PrivateBus
        let service: Connection
        let client: Connection

        init(_ members: [Interface.Member], limits: [String: Int] = [:]) async throws {
            bus = try await PrivateBus.start(limits: limits)
            service = try await bus.connect()
            client = try await bus.connect()
            service.export([Interface(Self.interface, members)], at: "/")
        }

        @discardableResult
        func call<each Input: DBusEncodable>(
            _ member: MemberName,
            _ arguments: repeat each Input
        ) async throws -> Reply {
            try await client.call(
                member,
                on: Self.interface,
                at: "/",
                of: service.uniqueName,
                repeat each arguments
            )
        }
    }

    @Test func `a type of one's own travels as a structure and an enumeration as its word`()
        async throws
    {
        #expect(Place.signature == "((dd)s)")
        #expect([String: [Place]].signature == "a{sa((dd)s)}")
        let echo = try await Echo([
            .method("Places", in: ["places"], out: ["places"]) {
                (_, places: [String: [Place]]) in places
            }
        ])
        let places = [
            "none": [],
            "two": [
                Place(latitude: 48.1, longitude: -11.5, gait: .walking),
                Place(latitude: -90, longitude: 180, gait: .running),
            ],
        ]
        let answer = try await echo.call("Places", places)
        #expect(try answer.results([String: [Place]].self) == places)
        let asValues = try answer.results([String: [Struct<Struct<Double, Double>, String>]].self)
        #expect(asValues["two"]?[0] == Struct(Struct(48.1, -11.5), "walking"))
    }

    @Test func `a word that an enumeration does not know is an invalid argument`() async throws {
        let echo = try await Echo([
            .method("Places", in: ["places"], out: ["places"]) { (_, places: [Place]) in places }
        ])
        let strange = [Struct(Struct(1.0, 2.0), "flying")]
        do {
            try await echo.call("Places", strange)
            Issue.record("it was accepted")
        } catch let error as DBusError {
            #expect(error.name == .invalidArguments)
            #expect(error.message == "“flying” is no Gait")
        }
    }

    @Test func `an array of numbers arrives in one go, empty and large`() async throws {
        let echo = try await Echo([
            .method(
                "Numbers",
                in: ["y", "n", "i", "t", "d", "b"],
                out: ["y", "n", "i", "t", "d", "b"]
            ) {
                (_, y: [UInt8], n: [Int16], i: [[Int32]], t: [UInt64], d: [Double], b: [Bool]) in
                (y, n, i, t, d, b)
            }
        ])
        for count in [0, 1, 3, 100_000] {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
            let shorts = bytes.map { Int16($0) - 100 }
            let words = [[], shorts.map { Int32($0) * 70_000 }, [7]]
            let longs = bytes.map { UInt64.max - UInt64($0) }
            let doubles = bytes.map { Double($0) / 3 }
            let flags = bytes.map { $0 % 3 == 0 }
            let answer = try await echo.call(
                "Numbers",
                bytes,
                shorts,
                words,
                longs,
                doubles,
                flags
            )
            let results = try answer.results(
                [UInt8].self,
                [Int16].self,
                [[Int32]].self,
                [UInt64].self,
                [Double].self,
                [Bool].self
            )
            #expect(results.0 == bytes)
            #expect(results.1 == shorts)
            #expect(results.2 == words)
            #expect(results.3 == longs)
            #expect(results.4 == doubles)
            #expect(results.5 == flags)
        }
    }

    @Test func `typed and dynamic values are made of each other`() throws {
        let place = Place(latitude: 1, longitude: 2, gait: .running)
        let value = try Value(encoding: ["here": [place]])
        #expect(value.signature == "a{sa((dd)s)}")
        #expect(try value.decoded(as: [String: [Place]].self) == ["here": [place]])
        #expect(try Value.uint32(7).decoded(as: UInt32.self) == 7)
        #expect(try Value.uint32(7).decoded(as: Value.self) == .uint32(7))
        #expect(try Value(encoding: Value.uint32(7)) == .variant(.uint32(7)))
        #expect(throws: DBusError.self) { try Value.uint32(7).decoded(as: Int32.self) }
        #expect(throws: DBusError.self) { try Value(encoding: "a\0b") }
    }

    @Test func `a descriptor arrives as one for the same open file`() async throws {
        let echo = try await Echo([
            .method("Write", in: ["file", "text"]) { (_, file: UnixDescriptor, text: String) in
                _ = write(file.number, text, text.utf8.count)
            },
            .method("Value", in: ["value"], out: ["value"]) { (_, value: Value) in value },
        ])
        var ends: [CInt] = [-1, -1]
        try #require(pipe(&ends) == 0)
        let reading = Descriptor(adopting: ends[0])
        var writing: UnixDescriptor? = UnixDescriptor(Descriptor(adopting: ends[1]))
        try await echo.call("Write", try #require(writing), "from afar")
        let answer = try await echo.call("Value", Value.descriptor(try #require(writing)))
        let returned = try answer.results(Value.self)
        guard case .descriptor(let copy) = returned else {
            Issue.record("\(returned) came back")
            return
        }
        #expect(copy != writing && copy.number != writing?.number)
        #expect(fcntl(copy.number, F_GETFD) == FD_CLOEXEC)
        _ = write(copy.number, ", and back", 10)
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = read(reading.number, &bytes, bytes.count)
        #expect(
            String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self) == "from afar, and back"
        )
        writing = nil
        #expect(throws: SystemError.self) { try UnixDescriptor(duplicating: 1_000_000) }
    }

    @Test func `no descriptor stays open when the messages have gone`() async throws {
        let echo = try await Echo([
            .method("Take", in: ["files"]) { (_, _: [UnixDescriptor]) in },
            .method("Refuse", in: ["file"]) { (_, _: UInt32) in },
        ])
        var ends: [CInt] = [-1, -1]
        try #require(pipe(&ends) == 0)
        let reading = Descriptor(adopting: ends[0])
        var writing: UnixDescriptor? = UnixDescriptor(Descriptor(adopting: ends[1]))
        for _ in 0..<50 {
            let file = try #require(writing)
            try await echo.call("Take", [file, file, file])
            await #expect(throws: DBusError.self) { try await echo.call("Refuse", file) }
            await #expect(throws: DBusError.self) { try await echo.call("Refuse", file, "a\0b") }
        }
        writing = nil
        _ = fcntl(reading.number, F_SETFL, O_NONBLOCK)
        // The other end tells: while anybody can write, there is nothing; then there is the end.
        try await eventually("the end of the pipe") {
            var byte: UInt8 = 0
            return read(reading.number, &byte, 1) == 0
        }
    }

    @Test func `more descriptors than every bus allows are refused on this side`() async throws {
        let echo = try await Echo([
            .method("Take", in: ["files"], out: ["count"]) { (_, files: [UnixDescriptor]) in
                UInt32(files.count)
            }
        ])
        let file = try UnixDescriptor(duplicating: 0)
        let most = Array(repeating: file, count: 16)
        #expect(try await echo.call("Take", most).results(UInt32.self) == 16)
        await #expect {
            try await echo.call("Take", most + [file])
        } throws: {
            ($0 as? DBusError)?.name == .limitsExceeded
        }
        #expect(try await echo.call("Take", most).results(UInt32.self) == 16)
    }

    @Test func `what is larger than the bus allows is an error, and the connection goes on`()
        async throws
    {
        let echo = try await Echo(
            [
                .method("Length", in: ["text"], out: ["length"]) { (_, text: String) in
                    UInt32(text.utf8.count)
                },
                .method("Text", in: ["length"], out: ["text"]) { (_, length: UInt32) in
                    String(repeating: "x", count: Int(length))
                },
            ],
            limits: ["max_message_size": 32 << 20]
        )
        let most = echo.client.limits.messageSize - 5
        #expect(
            try await echo.call("Length", String(repeating: "x", count: most))
                .results(UInt32.self) == UInt32(most)
        )
        #expect(
            try await echo.call("Text", UInt32(most)).results(String.self).utf8.count == most
        )
        for attempt in 0..<2 {
            await #expect {
                if attempt == 0 {
                    try await echo.call("Length", String(repeating: "x", count: most + 1))
                } else {
                    try await echo.call("Text", UInt32(most + 1))
                }
            } throws: {
                ($0 as? DBusError)?.name == .limitsExceeded
            }
        }
        #expect(try await echo.call("Length", "after").results(UInt32.self) == 5)
    }

    @Test func `what no bus can carry is an error before it is written`() throws {
        var large = try Message.signal("Large", of: "org.example.Large", from: "/")
        let bytes = [UInt8](repeating: 1, count: 1 << 26)
        try large.append(bytes)
        #expect(throws: DBusError.self) { try large.append(bytes) }
        var array = try Message.signal("Large", of: "org.example.Large", from: "/")
        #expect(throws: DBusError.self) { try array.append(bytes + [1]) }
        var texts = try Message.signal("Large", of: "org.example.Large", from: "/")
        let text = String(repeating: "x", count: 1 << 25)
        #expect(throws: DBusError.self) { try texts.append([text, text, text]) }
        var types = try Message.signal("Large", of: "org.example.Large", from: "/")
        try types.append(contentsOf: Array(repeating: .byte(1), count: 255))
        #expect(throws: DBusError.self) { try types.append(UInt8(1)) }
        #expect(throws: DBusError.self) { try types.append(contentsOf: [.byte(1)]) }
    }

    @Test func `an error keeps its name, text and details`() async throws {
        let tired = DBusError(
            "org.example.Error.Tired",
            "after so long a way",
            details: [.uint32(42), .structure(["km", .double(42.2)])]
        )
        let echo = try await Echo([.method("Run") { _ in throw tired }])
        await #expect(throws: tired) { try await echo.call("Run") }
    }

    @Test func `a call can allow that the person is asked`() async throws {
        let echo = try await Echo([
            .method("May", out: ["asked"]) { call in call.allowsInteractiveAuthorization }
        ])
        for flags in [CallFlags(), .interactiveAuthorization] {
            let reply = try await echo.client.call(
                "May",
                on: Echo.interface,
                at: "/",
                of: echo.service.uniqueName,
                flags: flags
            )
            #expect(try reply.results(Bool.self) == !flags.isEmpty)
        }
    }

    @Test func `a message that was sent cannot be changed`() async throws {
        let bus = try await PrivateBus.start()
        let connection = try await bus.connect()
        var message = try Message.signal("Once", of: "org.example.Once", from: "/")
        try message.append("first")
        try connection.send(message)
        do {
            try message.append("second")
            Issue.record("it was changed")
        } catch {
            #expect(error.name == .failed)
        }
    }
}
