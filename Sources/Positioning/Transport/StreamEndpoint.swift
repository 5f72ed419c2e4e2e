// SPDX-License-Identifier: Apache-2.0

private import CLinux
internal import EventLoop
private import Glibc

/// Where a server listens.
public enum StreamEndpoint: Hashable, Sendable, CustomStringConvertible {
    /// At a path.
    case unix(String)
    /// At a port of a host, by name or number.
    case tcp(host: String, port: UInt16)

    /// The endpoint as people write it.
    public var description: String {
        switch self {
        case .unix(let path): path
        case .tcp(let host, let port):
            host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        }
    }
}

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
