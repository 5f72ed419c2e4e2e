// SPDX-License-Identifier: Apache-2.0

private import CLinux
internal import EventLoop
private import Glibc

/// The address of a socket, in the kernel's form.
struct SocketAddress: Hashable, Sendable {
    let family: CInt
    private let bytes: [UInt8]

    /// Opens a socket of the address's family and begins to connect it, without waiting.
    ///
    /// - Returns: A socket; it is writable as soon as it is connected or has failed.
    func connect(_ operation: String) throws(SystemError) -> Descriptor {
        let flags = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let socket = try Descriptor(operation) { Glibc.socket(family, flags, 0) }
        if family != AF_UNIX { Self.keepAlive(socket.number) }
        let status = bytes.withUnsafeBytes { bytes in
            Glibc.connect(
                socket.number,
                bytes.assumingMemoryBound(to: sockaddr.self).baseAddress,
                socklen_t(bytes.count)
            )
        }
        guard status == 0 || errno == EINPROGRESS else { throw SystemError(operation: operation) }
        return socket
    }

    /// Opens a socket for datagrams at the address, which nobody else may use at the same time.
    ///
    /// Without `SO_REUSEADDR`: for datagrams it would let the next program that asks for the port
    /// take them all away, and a port that is left is free at once in any case.
    ///
    /// - Returns: A socket that receives what is sent to the address.
    func bindDatagrams(_ operation: String) throws(SystemError) -> Descriptor {
        let flags = CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let socket = try Descriptor(operation) { Glibc.socket(family, flags, 0) }
        if family == AF_INET6 {
            // The address of all networks takes in IPv4, whatever the system's default is.
            var no: CInt = 0
            setsockopt(
                socket.number,
                CInt(IPPROTO_IPV6),
                IPV6_V6ONLY,
                &no,
                socklen_t(MemoryLayout.size(ofValue: no))
            )
        }
        let status = bytes.withUnsafeBytes { bytes in
            Glibc.bind(
                socket.number,
                bytes.assumingMemoryBound(to: sockaddr.self).baseAddress,
                socklen_t(bytes.count)
            )
        }
        guard status == 0 else { throw SystemError(operation: operation) }
        return socket
    }

    /// The address of a path, `nil` if it is too long.
    init?(path: String) {
        var address = sockaddr_un()
        let text = Array(path.utf8)
        guard text.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: text) }
        family = AF_UNIX
        bytes = withUnsafeBytes(of: &address) { Array($0) }
    }

    /// All addresses of this host at a port.
    ///
    /// - Parameters:
    ///   - family: `AF_INET6`, which takes in IPv4, or `AF_INET`.
    ///   - port: The port.
    /// - Returns: The address that stands for all.
    static func any(family: CInt, port: UInt16) -> SocketAddress {
        // Zero is what both call “any”.
        if family == AF_INET6 {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            return SocketAddress(family: family, bytes: withUnsafeBytes(of: &address) { Array($0) })
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        return SocketAddress(family: family, bytes: withUnsafeBytes(of: &address) { Array($0) })
    }

    /// The address that the kernel has written, `nil` if it has written none.
    init?(kernel bytes: UnsafeRawBufferPointer) {
        let familySize = MemoryLayout<sa_family_t>.size
        guard bytes.count >= familySize else { return nil }
        family = CInt(bytes.loadUnaligned(as: sa_family_t.self))
        self.bytes = Array(bytes)
    }

    private init(family: CInt, bytes: [UInt8]) {
        self.family = family
        self.bytes = bytes
    }

    private init(_ info: addrinfo) {
        family = info.ai_family
        bytes = Array(UnsafeRawBufferPointer(start: info.ai_addr, count: Int(info.ai_addrlen)))
    }

    /// Looks a host up; this may block for as long as the network takes.
    ///
    /// - Parameters:
    ///   - host: A name or a number.
    ///   - port: The port.
    ///   - numericOnly: Whether to fail at once if the host is a name.
    /// - Returns: The host's addresses, the best one first.
    /// - Throws: If it has none, or nobody could be asked.
    static func lookUp(
        host: String,
        port: UInt16,
        numericOnly: Bool
    ) throws(LookUpError) -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        // Not only families that some network has: localhost is 127.0.0.1 even where all networks
        // are IPv6.
        hints.ai_flags = AI_NUMERICSERV | (numericOnly ? AI_NUMERICHOST : 0)
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, "\(port)", &hints, &list)
        guard status == 0 else { throw LookUpError(host: host, code: status) }
        defer { freeaddrinfo(list) }
        return sequence(first: list) { $0?.pointee.ai_next }
            .prefix { $0 != nil }
            .compactMap { $0.map { SocketAddress($0.pointee) } }
    }

    /// A host that vanishes without a word is noticed within a minute.
    private static func keepAlive(_ socket: CInt) {
        func set(_ level: CInt, _ option: CInt, _ value: CInt) {
            var value = value
            setsockopt(socket, level, option, &value, socklen_t(MemoryLayout.size(ofValue: value)))
        }
        set(SOL_SOCKET, SO_KEEPALIVE, 1)
        set(CInt(IPPROTO_TCP), TCP_KEEPIDLE, 20)
        set(CInt(IPPROTO_TCP), TCP_KEEPINTVL, 10)
        set(CInt(IPPROTO_TCP), TCP_KEEPCNT, 3)
        set(CInt(IPPROTO_TCP), TCP_USER_TIMEOUT, 50_000)
    }
}

/// A host that could not be looked up.
struct LookUpError: Error, CustomStringConvertible {
    let host: String
    let code: CInt

    var description: String {
        "cannot find the host \(host): \(String(cString: gai_strerror(code)))"
    }
}
