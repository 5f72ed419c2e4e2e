// SPDX-License-Identifier: Apache-2.0

private import CLinux
public import EventLoop
private import Glibc

/// A server that feeds whoever connects: the far side of a source, on a path or a TCP port.
@LoopActor public final class FeedServer {
    /// Where it listens.
    public enum Place: Hashable, Sendable {
        /// At a path, which must not exist.
        case unix(String)
        /// At a port of 127.0.0.1; 0 for any that is free.
        case tcp(UInt16)
    }

    /// The port that it listens at, 0 on a path.
    public private(set) var port: UInt16 = 0

    /// How many connections it has accepted so far.
    public private(set) var accepted = 0

    /// How many connections are open.
    public var connected: Int { peers.count }

    /// Told for each connection that is made or ends: how many are open then.
    public let changes = Mailbox<Int>()

    /// Lines that its peers have sent.
    public let received = Mailbox<String>()

    /// Sent to each peer as soon as it connects.
    public var greeting = ""

    /// Whether each connection is closed as soon as it was accepted and greeted.
    public var hangsUpAtOnce = false

    private final class Peer {
        let socket: Descriptor
        var watch: DescriptorWatch?
        var partial: [UInt8] = []

        init(_ socket: consuming Descriptor) {
            self.socket = socket
        }
    }

    private let listener: Descriptor
    private var watch: DescriptorWatch?
    private var peers: [CInt: Peer] = [:]

    /// Begins to listen.
    ///
    /// - Parameter place: Where.
    /// - Throws: What the system says, for example that the port is taken.
    public init(_ place: Place) throws {
        switch place {
        case .unix(let path): listener = try Self.listen(path: path)
        case .tcp(let wanted):
            listener = try Self.listen(port: wanted)
            port = Self.port(of: listener)
        }
        watch = DescriptorWatch(listener.number, for: .readable) { [weak self] _ in
            self?.accept()
        }
    }

    isolated deinit {
        stop()
    }

    /// Stops listening and closes all connections.
    public func stop() {
        watch?.cancel()
        watch = nil
        hangUp()
        shutdown(listener.number, CInt(SHUT_RDWR))
    }

    /// Sends a text to all peers.
    public func send(_ text: String) {
        for peer in peers.values { Self.send(text, to: peer) }
    }

    /// Closes all connections.
    public func hangUp() {
        for number in Array(peers.keys) { drop(number) }
    }

    private func accept() {
        let number = Glibc.accept(listener.number, nil, nil)
        guard number >= 0 else { return }
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        _ = fcntl(number, F_SETFL, O_NONBLOCK)
        let peer = Peer(Descriptor(adopting: number))
        accepted += 1
        peers[number] = peer
        peer.watch = DescriptorWatch(number, for: .readable) { [weak self] _ in
            self?.read(number)
        }
        changes.append(peers.count)
        Self.send(greeting, to: peer)
        if hangsUpAtOnce { drop(number) }
    }

    private func read(_ number: CInt) {
        guard let peer = peers[number] else { return }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(number, &buffer, buffer.count, 0)
        guard count > 0 else {
            if count == 0 || errno != EAGAIN { drop(number) }
            return
        }
        for byte in buffer[..<count] {
            if byte == UInt8(ascii: "\n") {
                received.append(String(decoding: peer.partial, as: UTF8.self))
                peer.partial = []
            } else {
                peer.partial.append(byte)
            }
        }
    }

    private func drop(_ number: CInt) {
        guard let peer = peers.removeValue(forKey: number) else { return }
        peer.watch?.cancel()
        changes.append(peers.count)
    }

    private static func send(_ text: String, to peer: Peer) {
        let bytes = Array(text.utf8)
        _ = Glibc.send(peer.socket.number, bytes, bytes.count, CInt(MSG_NOSIGNAL))
    }

    // MARK: Listening

    private static func listen(path: String) throws(SystemError) -> Descriptor {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
        let socket = try socket(AF_UNIX)
        try bind(socket.number, &address, "listen at \(path)")
        return socket
    }

    private static func listen(port: UInt16) throws(SystemError) -> Descriptor {
        let socket = try socket(AF_INET)
        var one: CInt = 1
        setsockopt(socket.number, SOL_SOCKET, SO_REUSEADDR, &one, 4)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        try bind(socket.number, &address, "listen at port \(port)")
        return socket
    }

    private static func port(of socket: borrowing Descriptor) -> UInt16 {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout.size(ofValue: address))
        withUnsafeMutableBytes(of: &address) {
            _ = getsockname(
                socket.number,
                $0.assumingMemoryBound(to: sockaddr.self).baseAddress,
                &size
            )
        }
        return UInt16(bigEndian: address.sin_port)
    }

    private static func socket(_ family: CInt) throws(SystemError) -> Descriptor {
        let flags = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        return try Descriptor("make a socket") { Glibc.socket(family, flags, 0) }
    }

    private static func bind<Address>(
        _ socket: CInt,
        _ address: inout Address,
        _ operation: String
    ) throws(SystemError) {
        let size = socklen_t(MemoryLayout<Address>.size)
        let status = withUnsafeBytes(of: &address) {
            Glibc.bind(socket, $0.assumingMemoryBound(to: sockaddr.self).baseAddress, size)
        }
        guard status == 0, Glibc.listen(socket, 64) == 0 else {
            throw SystemError(operation: operation)
        }
    }
}
