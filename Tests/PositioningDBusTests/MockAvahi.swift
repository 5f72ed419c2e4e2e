// SPDX-License-Identifier: Apache-2.0

import DBus
import EventLoop
import TestKit

/// An Avahi on whose network a test announces services.
@LoopActor final class MockAvahi {
    private typealias Item = (Int32, Int32, String, String, String, UInt32)

    private static let browser: InterfaceName = "org.freedesktop.Avahi.ServiceBrowser"
    private static let arguments = ["interface", "protocol", "name", "type", "domain", "flags"]
    private static let new = Signal<Int32, Int32, String, String, String, UInt32>(
        "ItemNew",
        of: browser,
        arguments: arguments
    )
    private static let removed = Signal<Int32, Int32, String, String, String, UInt32>(
        "ItemRemove",
        of: browser,
        arguments: arguments
    )
    private static let allForNow = EmptySignal("AllForNow", of: browser)
    private static let type = "_nmea-0183._tcp"

    let connection: Connection
    /// A message for each browser that is made, and for each that is freed.
    let browsers = Mailbox<String>()
    private var services: [String: (address: String, port: UInt16, texts: [String])] = [:]
    private var open: [ObjectPath] = []

    init(_ bus: PrivateBus) async throws {
        connection = try await bus.connect()
        connection.export([server], at: "/")
        try await connection.requestName("org.freedesktop.Avahi")
    }

    /// Announces a receiver.
    func announce(_ name: String, _ address: String, _ port: UInt16, _ texts: [String] = []) throws
    {
        services[name] = (address, port, texts)
        for path in open { try tell(Self.new, name, path) }
    }

    /// Takes an announcement back.
    func withdraw(_ name: String) throws {
        services[name] = nil
        for path in open { try tell(Self.removed, name, path) }
    }

    private func tell(
        _ signal: Signal<Int32, Int32, String, String, String, UInt32>,
        _ name: String,
        _ path: ObjectPath
    ) throws {
        try connection.emit(signal, from: path, 2, 0, name, Self.type, "local", 4)
    }

    private var server: Interface {
        Interface(
            "org.freedesktop.Avahi.Server",
            [
                .method(
                    "ServiceBrowserNew",
                    in: ["interface", "protocol", "type", "domain", "flags"],
                    out: ["path"]
                ) {
                    [self] (
                        call,
                        _: Int32,
                        _: Int32,
                        type: String,
                        _: String,
                        _: UInt32
                    )
                        -> ObjectPath in
                    guard type == Self.type else { throw DBusError(.notSupported, type) }
                    return try makeBrowser()
                },
                .dynamicMethod(
                    "ResolveService",
                    in: [
                        "interface": "i", "protocol": "i", "name": "s", "type": "s", "domain": "s",
                        "aprotocol": "i", "flags": "u",
                    ],
                    out: [
                        "interface": "i", "protocol": "i", "name": "s", "type": "s", "domain": "s",
                        "host": "s", "aprotocol": "i", "address": "s", "port": "q", "txt": "aay",
                        "flags": "u",
                    ]
                ) { [self] _, values in
                    guard let service = services[values[2].string ?? ""] else {
                        throw DBusError("org.freedesktop.Avahi.TimeoutError", "Timeout reached")
                    }
                    return [
                        .int32(2), .int32(0), values[2], values[3], values[4],
                        "no-such-host.local", .int32(0), .string(service.address),
                        .uint16(service.port),
                        try Value(encoding: service.texts.map { Array($0.utf8) }), .uint32(0),
                    ]
                },
            ]
        )
    }

    /// As the real one does, it tells what there is before the caller knows the browser's path.
    private func makeBrowser() throws -> ObjectPath {
        let path = ObjectPath(unchecked: "/Client1/ServiceBrowser\(open.count)")
        open.append(path)
        browsers.append("new")
        connection.export(
            [
                Interface(
                    Self.browser,
                    [
                        .method("Free") { [self] _ in
                            open.removeAll { $0 == path }
                            browsers.append("free")
                        }
                    ]
                )
            ],
            at: path
        )
        for name in services.keys.sorted() { try tell(Self.new, name, path) }
        try connection.emit(Self.allForNow, from: path)
        return path
    }
}
