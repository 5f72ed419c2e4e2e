// SPDX-License-Identifier: Apache-2.0

import CLinux
import EventLoop
import Glibc

/// Lines that come through a Unix socket.
@LoopActor final class LineFeed {
    private let socket: Descriptor
    private let handler: @LoopActor (String) -> Void
    private var watch: DescriptorWatch?
    private var partial: [UInt8] = []

    /// Connects to a socket at a path.
    init(_ path: String, _ handler: @escaping @LoopActor (String) -> Void) throws {
        self.handler = handler
        socket = try Descriptor("make a socket") {
            Glibc.socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let status = withUnsafeBytes(of: &address) { bytes in
            connect(socket.number, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, size)
        }
        guard status == 0 else { throw SystemError(operation: "connect to \(path)") }
        watch = DescriptorWatch(socket.number, for: .readable) { [unowned self] _ in receive() }
    }

    private func receive() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(socket.number, &buffer, buffer.count, CInt(MSG_DONTWAIT))
        guard count > 0 else {
            if count == 0 { watch?.cancel() }
            return
        }
        partial += buffer[..<count]
        while let end = partial.firstIndex(of: UInt8(ascii: "\n")) {
            let line = String(decoding: partial[..<end], as: UTF8.self)
            partial.removeSubrange(...end)
            handler(line)
        }
    }
}
