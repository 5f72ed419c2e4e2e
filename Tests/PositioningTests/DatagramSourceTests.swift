// SPDX-License-Identifier: Apache-2.0

import CLinux
import EventLoop
import Geo
import Glibc
import Positioning
import TestKit
import Testing

/// Sentences in datagrams, from real sockets on this host.
@Suite @LoopActor struct DatagramSourceTests {
    /// Someone who sends datagrams to a port of this host, or takes it for itself.
    @LoopActor private final class Peer {
        private let socket: Descriptor
        private let family: CInt

        init(_ family: CInt = AF_INET, port: UInt16, binds: Bool = false) throws {
            self.family = family
            socket = try Descriptor("make a socket") {
                Glibc.socket(family, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            }
            let number = socket.number
            try retryingOnInterrupt("reach the port") {
                Self.withAddress(family, port) { address, size in
                    binds ? Glibc.bind(number, address, size) : Glibc.connect(number, address, size)
                }
            }
        }

        func send(_ text: String) {
            let bytes = Array(text.utf8)
            _ = Glibc.send(socket.number, bytes, bytes.count, 0)
        }

        private static func withAddress(
            _ family: CInt,
            _ port: UInt16,
            _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt
        ) -> CInt {
            func call<Address>(_ address: Address) -> CInt {
                withUnsafeBytes(of: address) { bytes in
                    guard let base = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
                    else { return -1 }
                    return body(base, socklen_t(bytes.count))
                }
            }
            if family == AF_INET6 {
                var address = sockaddr_in6()
                address.sin6_family = sa_family_t(AF_INET6)
                address.sin6_port = port.bigEndian
                address.sin6_addr = in6addr_loopback
                return call(address)
            }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            return call(address)
        }
    }

    private let port: UInt16
    private let rig: SourceRig
    private let track = NMEATrack()

    init() throws {
        port = try freePort(forDatagrams: true)
        rig = SourceRig(.nmeaDatagrams(host: nil, port: port))
    }

    /// Whether something on this host listens at the port.
    private func isTaken() throws -> Bool {
        let hex = String(port, radix: 16, uppercase: true)
        let suffix = ":" + String(repeating: "0", count: 4 - hex.count) + hex
        return try (readFile("/proc/net/udp") + readFile("/proc/net/udp6")).split(separator: "\n")
            .contains { line in
                let words = line.split(separator: " ")
                return words.count > 1 && words[1].hasSuffix(suffix)
            }
    }

    private func listen(_ rig: SourceRig? = nil) async throws {
        (rig ?? self.rig).start()
        try await eventually("a socket at the port") { try isTaken() }
    }

    private func fix(of epoch: Int, _ track: NMEATrack? = nil) async throws {
        let track = track ?? self.track
        let fix = try await rig.fix()
        #expect(abs(fix.coordinate.latitude - track.latitude(of: epoch)) < 1e-6)
        #expect(abs(fix.coordinate.longitude - track.longitude) < 1e-6)
        #expect(fix.timestamp == track.time(of: epoch))
    }

    @Test(arguments: [AF_INET, AF_INET6])
    func `a port of all networks takes both families`(family: CInt) async throws {
        try await listen()
        let peer = try Peer(family, port: port)
        for epoch in 0..<3 { peer.send(track.sentences(epoch)) }
        for epoch in 0..<3 { try await fix(of: epoch) }
        #expect(rig.log.isEmpty)
    }

    @Test(arguments: [("127.0.0.1", AF_INET), ("::1", AF_INET6), ("localhost", AF_INET)])
    func `a port may be one address's alone`(host: String, family: CInt) async throws {
        let rig = SourceRig(.nmeaDatagrams(host: host, port: port))
        try await listen(rig)
        let peer = try Peer(family, port: port)
        peer.send(track.sentences(0..<2))
        _ = try await rig.fix()
    }

    @Test func `a datagram may hold a sentence, several or a part of one`() async throws {
        try await listen()
        let peer = try Peer(port: port)
        // A telephone that relays sentences ends each twice.
        for line in track.sentences(0..<2).split(separator: "\r\n") { peer.send("\(line)\r\n\r\n") }
        try await fix(of: 0)
        try await fix(of: 1)
        peer.send(track.sentences(2..<4))
        try await fix(of: 2)
        try await fix(of: 3)
        var rest = track.sentences(4)[...]
        while !rest.isEmpty {
            peer.send(String(rest.prefix(7)))
            rest = rest.dropFirst(7)
        }
        try await fix(of: 4)
        peer.send("")
        peer.send("\r\n")
        peer.send(track.sentences(5))
        try await fix(of: 5)
        #expect(rig.events.contents.isEmpty)
    }

    @Test func `a sentence without line end ends with its datagram`() async throws {
        try await listen()
        let peer = try Peer(port: port)
        for line in track.sentences(0..<2).split(separator: "\r\n") { peer.send(String(line)) }
        try await fix(of: 0)
        try await fix(of: 1)
    }

    @Test func `a sentence does not go on in a datagram of another sender`() async throws {
        try await listen()
        let (one, other) = try (Peer(port: port), Peer(port: port))
        let text = track.sentences(0)
        one.send(String(text.prefix(30)))
        other.send(String(text.dropFirst(30)))
        // The other has told the RMC alone.
        try await eventually("the wait for more") { rig.clock.isAwaited }
        rig.clock.advance(by: .milliseconds(100))
        #expect(try await rig.fix().altitude == nil)
        one.send(String(text.dropFirst(30)))
        try await eventually("the wait for more") { rig.clock.isAwaited }
        rig.clock.advance(by: .seconds(11))
        let whole = try await rig.fix()
        #expect(whole.altitude == 520)
        #expect(rig.events.contents.isEmpty)
    }

    @Test func `of two senders one is followed until it is silent`() async throws {
        try await listen()
        let far = NMEATrack(latitude: 10, longitude: 20)
        let (one, other) = try (Peer(port: port), Peer(port: port))
        for epoch in 0..<3 {
            one.send(track.sentences(epoch))
            other.send(far.sentences(epoch))
        }
        for epoch in 0..<3 { try await fix(of: epoch) }
        other.send(far.sentences(3))
        one.send(track.sentences(3))
        try await fix(of: 3)
        #expect(rig.events.contents.isEmpty)
        rig.clock.advance(by: .seconds(10))
        other.send(far.sentences(14))
        try await fix(of: 14, far)
    }

    @Test func `many senders do not fill the memory`() async throws {
        try await listen()
        let first = try Peer(port: port)
        first.send(track.sentences(0..<2))
        try await fix(of: 0)
        try await fix(of: 1)
        for epoch in 2..<40 {
            // Each has begun a sentence and never ends it.
            rig.clock.advance(by: .milliseconds(1))
            try Peer(port: port).send("$GPGGA,")
            rig.clock.advance(by: .milliseconds(1))
            first.send(track.sentences(epoch))
            try await fix(of: epoch)
        }
    }

    @Test func `a port that is in use is told once, and taken when it is free`() async throws {
        var other: Peer? = try Peer(port: port, binds: true)
        rig.start()
        let reason = try await rig.unavailable()
        let sentence = "cannot listen at UDP port \(port): another program does so already"
        #expect(reason == sentence)
        rig.clock.advance(by: .milliseconds(500))
        #expect(try await rig.unavailable() == sentence)
        #expect(rig.log == ["source receiver: \(sentence); trying again"])
        #expect(other != nil)
        other = nil
        rig.clock.advance(by: .seconds(1))
        let peer = try Peer(port: port)
        try await eventually("a fix") {
            peer.send(track.sentences(0..<2))
            return !rig.events.contents.isEmpty
        }
        try await fix(of: 0)
        #expect(rig.log.dropFirst() == ["source receiver: UDP port \(port) is back"])
    }

    @Test func `the port is not shared`() async throws {
        try await listen()
        #expect(throws: SystemError.self) { try Peer(port: port, binds: true) }
    }

    @Test func `an address of another host is told`() async throws {
        let rig = SourceRig(.nmeaDatagrams(host: "192.0.2.1", port: port))
        rig.start()
        let reason = try await rig.unavailable()
        #expect(
            reason
                == "cannot listen at UDP port 192.0.2.1:\(port): this host has no such address"
        )
    }

    @Test func `a stop leaves the port, and a start takes it again`() async throws {
        try await listen()
        let peer = try Peer(port: port)
        peer.send(track.sentences(0..<2))
        try await fix(of: 0)
        try await fix(of: 1)
        rig.source.stop()
        #expect(try !isTaken())
        #expect(!rig.clock.isAwaited)
        try await listen()
        try Peer(port: port).send(track.sentences(2..<4))
        try await fix(of: 2)
    }

    @Test func `a stop from within a fix is the last that is heard`() async throws {
        rig.onEvent = { [source = rig.source] _ in source.stop() }
        try await listen()
        try Peer(port: port).send(track.sentences(0..<5))
        try await fix(of: 0)
        await turns()
        #expect(rig.events.contents.isEmpty)
        #expect(try !isTaken())
    }

    @Test func `a flood leaves the loop to others`() async throws {
        try await listen()
        let peer = try Peer(port: port)
        for _ in 0..<500 { peer.send("$GPGSV,1,1,00*79\r\n") }
        peer.send(track.sentences(0..<2))
        await turns()
        let late = try Peer(port: port)
        late.send(track.sentences(0..<2))
        _ = try await rig.fix()
    }
}
