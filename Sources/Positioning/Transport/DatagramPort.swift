// SPDX-License-Identifier: Apache-2.0

private import CLinux
internal import EventLoop
private import Glibc

/// A UDP port of this host at which datagrams are received.
///
/// Without an address that is on all networks, of IPv4 and IPv6. The port is the link's alone: a
/// second program that wants it is refused, and so is this one if it comes second.
@LoopActor final class DatagramPort: Link {
    private let host: String?
    private let port: UInt16
    private var handler: (@LoopActor (LinkEvent) -> Void)?
    private var sockets: [Socket] = []
    private var buffer = [UInt8](repeating: 0, count: 65_536)

    /// The most datagrams of one turn of the loop: a flood leaves time to others.
    private static let batch = 16

    /// Begins to listen.
    ///
    /// - Parameters:
    ///   - host: An address of this host, or a name of it; `nil` for all addresses.
    ///   - port: The port.
    ///   - handler: Told what happens, never before this initializer has returned.
    init(host: String?, port: UInt16, handler: @escaping @LoopActor (LinkEvent) -> Void) {
        self.host = host
        self.port = port
        self.handler = handler
        LoopActor.task { [weak self] in await self?.begin() }
    }

    func close() {
        handler = nil
        for socket in sockets { socket.watch?.cancel() }
        sockets = []
    }

    /// The port as people write it.
    nonisolated static func name(host: String?, port: UInt16) -> String {
        host.map { "UDP port \(StreamEndpoint.tcp(host: $0, port: port))" } ?? "UDP port \(port)"
    }

    // MARK: Listening

    private var operation: String { "listen at \(Self.name(host: host, port: port))" }

    private func begin() async {
        do {
            let addresses = try await lookUp()
            guard handler != nil else { return }
            for socket in try bind(addresses) { watch(socket) }
        } catch let error as SystemError {
            end(explain(error))
            return
        } catch {
            end("\(error)")
            return
        }
        handler?(.opened)
    }

    /// The addresses of a host, `nil` for all of this one.
    private func lookUp() async throws -> [SocketAddress]? {
        guard let host else { return nil }
        if let numeric = try? SocketAddress.lookUp(host: host, port: port, numericOnly: true) {
            return numeric
        }
        return try await NameLookUp.addresses(of: host, port: port)
    }

    private func bind(_ addresses: [SocketAddress]?) throws(SystemError) -> [Socket] {
        guard let addresses else {
            do {
                return [try Socket(.any(family: AF_INET6, port: port), operation)]
            } catch {
                // A kernel without IPv6 has neither the family nor its addresses.
                guard error.code == EAFNOSUPPORT || error.code == EADDRNOTAVAIL else { throw error }
                return [try Socket(.any(family: AF_INET, port: port), operation)]
            }
        }
        // A name may have addresses of both families: a sender may use either.
        var sockets: [Socket] = []
        for address in addresses {
            do {
                sockets.append(try Socket(address, operation))
            } catch {
                if error.code == EADDRNOTAVAIL || error.code == EAFNOSUPPORT { continue }
                throw error
            }
        }
        if sockets.isEmpty { throw SystemError(code: EADDRNOTAVAIL, operation: operation) }
        return sockets
    }

    private func explain(_ error: SystemError) -> String {
        switch error.code {
        case EADDRINUSE: "cannot \(operation): another program does so already"
        case EADDRNOTAVAIL: "cannot \(operation): this host has no such address"
        case EACCES: "cannot \(operation): ports below 1024 need a privilege"
        default: "\(error)"
        }
    }

    private func watch(_ socket: Socket) {
        sockets.append(socket)
        let number = socket.descriptor.number
        socket.watch = DescriptorWatch(number, for: .readable) { [weak self] _ in
            self?.read(number)
        }
    }

    // MARK: Reading

    private func read(_ number: CInt) {
        for _ in 0..<Self.batch where handler != nil {
            var sender = sockaddr_storage()
            var size = socklen_t(MemoryLayout.size(ofValue: sender))
            let count = withUnsafeMutableBytes(of: &sender) { bytes in
                recvfrom(
                    number,
                    &buffer,
                    buffer.count,
                    0,
                    bytes.assumingMemoryBound(to: sockaddr.self).baseAddress,
                    &size
                )
            }
            guard count >= 0 else {
                if errno == EINTR { continue }
                if errno == EAGAIN { return }
                let name = Self.name(host: host, port: port)
                end("\(SystemError(operation: "read from \(name)"))")
                return
            }
            let address = withUnsafeBytes(of: &sender) { bytes in
                SocketAddress(kernel: UnsafeRawBufferPointer(rebasing: bytes[..<Int(size)]))
            }
            if let address { handler?(.datagram(buffer[..<count], from: address)) }
        }
    }

    private func end(_ reason: String) {
        let handler = handler
        close()
        handler?(.ended(reason: reason))
    }
}

/// One socket of a ``DatagramPort``, and its watch.
@LoopActor private final class Socket {
    let descriptor: Descriptor
    var watch: DescriptorWatch?

    init(_ address: SocketAddress, _ operation: String) throws(SystemError) {
        descriptor = try address.bindDatagrams(operation)
    }
}
