// SPDX-License-Identifier: Apache-2.0

private import CLinux
internal import EventLoop
private import Glibc

/// A connection to a server.
@LoopActor final class StreamConnection: Link {
    private let endpoint: StreamEndpoint
    private var handler: (@LoopActor (LinkEvent) -> Void)?
    private var addresses: [SocketAddress] = []
    private var socket: Descriptor?
    private var watch: DescriptorWatch?
    private var buffer = [UInt8](repeating: 0, count: 16_384)

    /// Begins to connect.
    ///
    /// - Parameters:
    ///   - endpoint: Where to.
    ///   - handler: Told what happens, never before this initializer has returned.
    init(_ endpoint: StreamEndpoint, handler: @escaping @LoopActor (LinkEvent) -> Void) {
        self.endpoint = endpoint
        self.handler = handler
        LoopActor.task { [weak self] in await self?.begin() }
    }

    func send(_ text: String) {
        guard let number = socket?.number else { return }
        let bytes = Array(text.utf8)
        _ = Glibc.send(number, bytes, bytes.count, CInt(MSG_NOSIGNAL))
    }

    func close() {
        handler = nil
        release()
    }

    // MARK: Connecting

    private func begin() async {
        do {
            addresses = try await lookUp()
        } catch {
            end("\(error)")
            return
        }
        connectToNext(after: "cannot connect to \(endpoint): it has no address")
    }

    private func lookUp() async throws -> [SocketAddress] {
        switch endpoint {
        case .unix(let path): return SocketAddress(path: path).map { [$0] } ?? []
        case .tcp(let host, let port):
            // A numeric address needs neither a thread nor a wait.
            if let numeric = try? SocketAddress.lookUp(host: host, port: port, numericOnly: true) {
                return numeric
            }
            return try await NameLookUp.addresses(of: host, port: port)
        }
    }

    /// Tries the next address of the host; the last failure is the one that is told.
    private func connectToNext(after failure: String) {
        guard handler != nil else { return }
        guard !addresses.isEmpty else {
            end(failure)
            return
        }
        let address = addresses.removeFirst()
        do {
            let socket = try address.connect("connect to \(endpoint)")
            watch = DescriptorWatch(socket.number, for: .writable) { [weak self] _ in
                self?.connected()
            }
            self.socket = consume socket
        } catch {
            connectToNext(after: "\(error)")
        }
    }

    private func connected() {
        guard let number = socket?.number else { return }
        var code: CInt = 0
        var size = socklen_t(MemoryLayout.size(ofValue: code))
        getsockopt(number, SOL_SOCKET, SO_ERROR, &code, &size)
        guard code == 0 else {
            release()
            connectToNext(after: "\(SystemError(code: code, operation: "connect to \(endpoint)"))")
            return
        }
        watch?.cancel()
        watch = DescriptorWatch(number, for: .readable) { [weak self] _ in self?.read() }
        handler?(.opened)
    }

    // MARK: Reading

    private func read() {
        while handler != nil, let number = socket?.number {
            let count = recv(number, &buffer, buffer.count, 0)
            if count > 0 {
                // More may be there: the loop comes back for it after the others had their turn.
                handler?(.bytes(buffer[..<count]))
                return
            }
            if count == 0 {
                end("\(endpoint) has closed the connection")
            } else if errno != EINTR {
                if errno != EAGAIN { end("\(SystemError(operation: "read from \(endpoint)"))") }
                return
            }
        }
    }

    private func end(_ reason: String) {
        let handler = handler
        close()
        handler?(.ended(reason: reason))
    }

    private func release() {
        watch?.cancel()
        watch = nil
        socket = nil
    }
}
