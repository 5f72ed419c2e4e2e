// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import TestKit
import Testing

/// Methods whose types are only known while the program runs.
@Suite @LoopActor struct DynamicMethodTests {
    @Test func `a method is made of a table, and called with values`() async throws {
        let bus = try await PrivateBus.start()
        let (service, client) = (try await bus.connect(), try await bus.connect())
        service.export(
            [
                Interface(
                    "org.example.Mock",
                    [
                        .dynamicMethod(
                            "Repeat",
                            in: ["text": "s", "times": "u"],
                            out: ["all": "as", "count": "u"]
                        ) { _, values in
                            let times = values[1].integer ?? 0
                            return [
                                .array(of: "s", Array(repeating: values[0], count: times)),
                                values[1],
                            ]
                        },
                        .dynamicMethod("Lie", out: ["number": "u"]) { _, _ in ["text"] },
                        .dynamicMethod("Refuse") { _, _ in throw DBusError(.accessDenied, "no") },
                    ]
                )
            ],
            at: "/"
        )
        let mock = Proxy(
            client,
            destination: service.uniqueName,
            path: "/",
            interface: "org.example.Mock"
        )
        let reply = try await mock.call("Repeat", values: ["ding", .uint32(2)])
        #expect(try reply.values() == [.array(of: "s", ["ding", "ding"]), .uint32(2)])
        #expect(reply.signature == "asu" && reply.sender == service.uniqueName)
        let typed = try await mock.call("Repeat", "dong", UInt32(1))
        let (all, count) = try typed.results([String].self, UInt32.self)
        #expect(all == ["dong"] && count == 1)
        for (member, values, name) in [
            ("Repeat", [.uint32(2), "ding"], .invalidArguments),
            ("Repeat", [], .invalidArguments),
            ("Lie", [], .failed),
            ("Refuse", [], .accessDenied),
        ] as [(MemberName, [Value], ErrorName)] {
            await #expect {
                try await mock.call(member, values: values)
            } throws: {
                ($0 as? DBusError)?.name == name
            }
        }
        let xml = try await client.call(
            "Introspect",
            on: "org.freedesktop.DBus.Introspectable",
            at: "/",
            of: service.uniqueName
        ).results(String.self)
        #expect(xml.contains("<arg name=\"times\" type=\"u\" direction=\"in\"/>"))
        #expect(xml.contains("<arg name=\"all\" type=\"as\" direction=\"out\"/>"))
    }
}
