// SPDX-License-Identifier: Apache-2.0

private import CLinux
public import EventLoop
private import Glibc

/// A real server on a TCP port of this host or at a path, that talks in lines and does what a
/// test tells it: to greet, to be silent, to hang up, to go away and to come back.
@LoopActor public final class LineServer {
    /// Where a server listens.
    public enum Place: Hashable, Sendable {
        /// A port of 127.0.0.1 that the kernel chooses and that the server keeps.
        case tcp
        /// A path.
        case unix(String)
    }

    /// The port, 0 at a path.
    public private(set) var port: UInt16 = 0

    /// How many connections there have been.
    public private(set) var acceptedCount = 0

    /// A message for each connection: which one it is, counted from 1.
    public let connections = Mailbox<Int>()

    /// A message for each connection that the other side ended.
    public let ends = Mailbox<Int>()

    /// What clients have sent, line by line.
    public let lines = Mailbox<String>()

    /// Sent to each client as soon as it comes.
    public var greeting = ""

    /// Whether each client is turned out as soon as it has come and was greeted.
    public var hangsUp = false

    private let place: Place
    private let backlog: CInt
    private let accepts: Bool
    private var listener: Descriptor?
    /// Holds the port while nobody listens there: without it the kernel would give the port to a
    /// server of a test that runs at the same time, and a client would find that one.
    private var reservation: Descriptor?
    private var watch: DescriptorWatch?
    private var clients: [Int: Client] = [:]

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - place: Where it listens.
    ///   - accepts: Whether it takes connections off the kernel's queue.
    ///   - backlog: How long that queue is.
    /// - Throws: What the system says.
    public init(_ place: Place, accepts: Bool = true, backlog: CInt = 16) throws {
        self.place = place
        self.accepts = accepts
        self.backlog = backlog
        try listen()
    }

    isolated deinit {
        stopListening()
        for client in clients.values { client.close() }
    }

    /// How many connections there are now.
    public var openCount: Int { clients.count }

    /// Sends a text to all clients.
    public func send(_ text: String) {
        send(Array(text.utf8))
    }

    /// Sends bytes to all clients.
    public func send(_ bytes: [UInt8]) {
        for client in clients.values { client.send(bytes) }
    }

    /// Ends all connections.
    public func closeAll() {
        for client in clients.values { client.close() }
        clients = [:]
    }

    /// Goes away: new clients are refused, those that there are stay.
    public func stopListening() {
        watch?.cancel()
        watch = nil
        listener = nil
        if case .unix(let path) = place { unlink(path) }
    }

    /// Comes back to the same place.
    ///
    /// - Throws: What the system says.
    public func listen() throws {
        if place == .tcp, reservation == nil { reservation = try bindToPort() }
        let socket = try place == .tcp ? bindToPort() : bindToPath()
        try retryingOnInterrupt("listen") { Glibc.listen(socket.number, backlog) }
        if accepts {
            watch = DescriptorWatch(socket.number, for: .readable) { [weak self] _ in
                self?.accept()
            }
        }
        listener = consume socket
    }

    private func makeSocket(_ family: CInt) throws -> Descriptor {
        let flags = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        return try Descriptor("make a socket") { Glibc.socket(family, flags, 0) }
    }

    /// Makes a socket at the server's port, which the first one chooses.
    ///
    /// Several may be bound to a port, as long as each says so and only one listens.
    private func bindToPort() throws -> Descriptor {
        let socket = try makeSocket(AF_INET)
        var yes: CInt = 1
        setsockopt(socket.number, SOL_SOCKET, SO_REUSEADDR, &yes, 4)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        address.sin_port = port.bigEndian
        try bind(socket.number, &address)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutableBytes(of: &address) { bytes in
            let pointer = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
            _ = getsockname(socket.number, pointer, &size)
        }
        port = UInt16(bigEndian: address.sin_port)
        return socket
    }

    private func bindToPath() throws -> Descriptor {
        guard case .unix(let path) = place else { preconditionFailure("the server has no path") }
        let socket = try makeSocket(AF_UNIX)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        try bind(socket.number, &address)
        return socket
    }

    private func bind<Address>(_ socket: CInt, _ address: inout Address) throws {
        let size = socklen_t(MemoryLayout<Address>.size)
        try withUnsafeBytes(of: &address) { bytes in
            let pointer = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
            try retryingOnInterrupt("bind to \(place)") { Glibc.bind(socket, pointer, size) }
        }
    }

    private func accept() {
        guard let number = listener?.number else { return }
        while true {
            let connection = Glibc.accept(number, nil, nil)
            guard connection != -1 else { return }
            _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
            _ = fcntl(connection, F_SETFL, O_NONBLOCK)
            acceptedCount += 1
            let id = acceptedCount
            let client = Client(Descriptor(adopting: connection), lines) { [weak self] in
                self?.clients[id] = nil
                self?.ends.append(id)
            }
            clients[id] = client
            client.send(Array(greeting.utf8))
            connections.append(id)
            if hangsUp {
                client.close()
                clients[id] = nil
            }
        }
    }
}

/// One connection of a ``LineServer``.
@LoopActor private final class Client {
    private var socket: Descriptor?
    private let lines: Mailbox<String>
    private let onEnd: @LoopActor () -> Void
    private var watch: DescriptorWatch?
    private var partial: [UInt8] = []
    private var unsent: ArraySlice<UInt8> = []

    init(
        _ socket: consuming Descriptor,
        _ lines: Mailbox<String>,
        onEnd: @escaping @LoopActor () -> Void
    ) {
        self.lines = lines
        self.onEnd = onEnd
        watch = DescriptorWatch(socket.number, for: .readable) { [weak self] readiness in
            if readiness.contains(.writable) { self?.write() }
            self?.read()
        }
        self.socket = consume socket
    }

    func send(_ bytes: [UInt8]) {
        unsent += bytes
        write()
    }

    func close() {
        watch?.cancel()
        watch = nil
        socket = nil
    }

    private func write() {
        while let number = socket?.number, !unsent.isEmpty {
            let count = unsent.withUnsafeBytes {
                Glibc.send(number, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            guard count > 0 else { break }
            unsent = unsent.dropFirst(count)
        }
        watch?.interest = unsent.isEmpty ? .readable : [.readable, .writable]
    }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while let number = socket?.number {
            let count = recv(number, &buffer, buffer.count, 0)
            guard count > 0 else {
                if count == -1, errno == EAGAIN || errno == EINTR { return }
                close()
                onEnd()
                return
            }
            for byte in buffer[..<count] {
                if byte == UInt8(ascii: "\n") {
                    lines.append(String(decoding: partial, as: UTF8.self))
                    partial.removeAll()
                } else {
                    partial.append(byte)
                }
            }
        }
    }
}
