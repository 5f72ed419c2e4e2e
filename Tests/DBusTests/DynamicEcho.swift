// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Fuzzing
import TestKit
import Testing

@testable import DBus

/// A service that returns whatever it is given, and calls of such services, with arguments of types
/// that are only known when they come.
@LoopActor enum DynamicEcho {
    static let interface: InterfaceName = "org.example.Echo"

    /// Exports the service.
    static func export(on connection: Connection) {
        let method = Method(name: "Echo", inputs: [], outputs: []) {
            [weak connection] call, message, answer in
            do {
                var reply = try Message.methodReturn(to: call)
                try reply.append(contentsOf: message.values())
                try connection?.send(reply)
            } catch {
                answer.fail(error)
            }
        }
        connection.export(
            [Interface(interface, [Interface.Member(kind: .method(method))])],
            at: "/"
        )
    }

    /// Calls such a service and compares what comes back.
    ///
    /// - Parameters:
    ///   - values: What it is given.
    ///   - service: The connection that has it.
    ///   - client: The connection that calls it.
    /// - Returns: Whether the same types and the same bits came back.
    /// - Throws: What is answered instead.
    static func returns(
        _ values: [Value],
        from service: BusName,
        to client: Connection
    ) async throws -> Bool {
        var call = try Message.call("Echo", on: interface, at: "/", of: service)
        try call.append(contentsOf: values)
        let reply = try await client.call(call)
        let types = values.map(\.signature.string).joined()
        return try reply.signature.string == types
            && reply.values().isIdentical(to: values)
    }

    /// Sends random messages there and back.
    ///
    /// - Parameters:
    ///   - count: How many.
    ///   - generator: Makes the messages; a failure names it by its seed.
    ///   - seed: The generator's seed.
    ///   - service: The connection that returns them.
    ///   - client: The connection that sends them.
    static func exchange(
        _ count: Int,
        _ generator: ValueGenerator,
        seed: UInt64,
        with service: BusName,
        from client: Connection
    ) async {
        var generator = generator
        for index in 0..<count {
            let values = generator.arguments(size: 60)
            do {
                if try await returns(values, from: service, to: client) { continue }
                Issue.record("seed \(seed), message \(index): changed on the way: \(values)")
            } catch {
                Issue.record("seed \(seed), message \(index): \(error) for \(values)")
            }
            guard client.isOpen else { return }
        }
    }
}
