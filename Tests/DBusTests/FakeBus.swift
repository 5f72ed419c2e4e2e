// SPDX-License-Identifier: Apache-2.0

import CDBus
import EventLoop
import Glibc
import TestKit

/// A bus that is none: it lets connections in without libdbus and sends what a test wants.
///
/// A real bus would let nothing malformed pass.
@LoopActor final class FakeBus {
    /// How it lets connections in.
    struct Manners: Sendable {
        /// What is said to a line of a connection that introduces itself.
        var answerLine: @Sendable (String) -> String = FakeBus.welcome

        /// What is sent for the `Hello` of a number.
        var answerHello: @Sendable (UInt32) -> [UInt8] = {
            WireMessage.reply(to: $0, "s", WireMessage.text(":1.7")).bytes
        }

        /// Whether nothing more is sent afterwards.
        var endsAfterHello = false
    }

    /// Where to connect to.
    let address: String

    /// Those that have connected.
    let peers = Mailbox<FakeBusPeer>()

    private let manners: Manners
    private let folder: TemporaryFolder
    private let listener: Descriptor
    private var watch: DescriptorWatch?

    init(_ manners: Manners = Manners()) throws {
        self.manners = manners
        folder = try TemporaryFolder()
        let path = "\(folder.path)/bus"
        self.address = "unix:path=\(path)"
        let flags = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        listener = try Descriptor("make a socket") { Glibc.socket(AF_UNIX, flags, 0) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let number = listener.number
        try withUnsafeBytes(of: &address) { bytes in
            let pointer = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
            try retryingOnInterrupt("bind") { bind(number, pointer, socklen_t(bytes.count)) }
        }
        try retryingOnInterrupt("listen") { listen(number, 16) }
        watch = DescriptorWatch(number, for: .readable) { [weak self] _ in self?.accept() }
    }

    isolated deinit {
        watch?.cancel()
    }

    /// What a real bus says.
    nonisolated static func welcome(_ line: String) -> String {
        switch line.split(separator: " ").first {
        case "AUTH": "OK 0123456789abcdef0123456789abcdef\r\n"
        case "NEGOTIATE_UNIX_FD": "AGREE_UNIX_FD\r\n"
        default: "ERROR\r\n"
        }
    }

    private func accept() {
        let number = Glibc.accept(listener.number, nil, nil)
        guard number != -1 else { return }
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        _ = fcntl(number, F_SETFL, O_NONBLOCK)
        peers.append(FakeBusPeer(Descriptor(adopting: number), manners))
    }
}

/// The bus's end of one connection.
@LoopActor final class FakeBusPeer {
    /// What the connection has sent after its `Hello`, `nil` once it has gone.
    let messages = Mailbox<[UInt8]?>()

    private let socket: Descriptor
    private let manners: FakeBus.Manners
    private var watch: DescriptorWatch?
    private var received: [UInt8] = []
    private var unsent: ArraySlice<UInt8> = []
    private var endsAfterwards = false
    private var (hasBegun, hasGreeted) = (false, false)

    init(_ socket: consuming Descriptor, _ manners: FakeBus.Manners) {
        self.manners = manners
        self.socket = socket
        watch = DescriptorWatch(self.socket.number, for: .readable) { [weak self] readiness in
            if readiness.contains(.writable) { self?.write() }
            self?.read()
        }
    }

    isolated deinit {
        watch?.cancel()
    }

    /// Sends bytes, whatever they are.
    func send(_ bytes: [UInt8]) {
        unsent += bytes
        write()
    }

    /// Sends nothing more, once all has left.
    func endSending() {
        endsAfterwards = true
        write()
    }

    private func write() {
        while !unsent.isEmpty {
            let count = unsent.withUnsafeBytes {
                Glibc.send(socket.number, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            guard count > 0 else { break }
            unsent = unsent.dropFirst(count)
        }
        if unsent.isEmpty, endsAfterwards { shutdown(socket.number, CInt(SHUT_WR)) }
        watch?.interest = unsent.isEmpty ? .readable : [.readable, .writable]
    }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(socket.number, &buffer, buffer.count, 0)
            guard count > 0 else {
                if count == -1, errno == EAGAIN || errno == EINTR { return handleReceived() }
                handleReceived()
                watch?.cancel()
                return messages.append(nil)
            }
            received += buffer[..<count]
        }
    }

    private func handleReceived() {
        while !hasBegun, let end = received.firstIndex(of: UInt8(ascii: "\n")) {
            let line = received[..<end].drop { $0 == 0 }
            received.removeSubrange(...end)
            let text = String(decoding: line, as: UTF8.self).filter { !$0.isNewline }
            if text == "BEGIN" {
                hasBegun = true
            } else {
                send(Array(manners.answerLine(text).utf8))
            }
        }
        while hasBegun, let message = nextMessage() {
            if hasGreeted {
                messages.append(message)
            } else {
                hasGreeted = true
                let digits = message[8..<12].reversed()
                send(manners.answerHello(digits.reduce(0) { $0 << 8 | UInt32($1) }))
                if manners.endsAfterHello { endSending() }
            }
        }
    }

    /// Takes a message off what was received.
    private func nextMessage() -> [UInt8]? {
        let needed = FakeBusPeer.size(of: received)
        guard let needed, needed > 0, needed <= received.count else { return nil }
        defer { received.removeSubrange(..<needed) }
        return Array(received[..<needed])
    }

    /// How many bytes a message takes that begins so: 0 if that cannot be told yet, `nil` if it is
    /// none.
    nonisolated static func size(of bytes: [UInt8]) -> Int? {
        let size = bytes.withUnsafeBytes { bytes in
            dbus_message_demarshal_bytes_needed(
                bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
                CInt(bytes.count)
            )
        }
        return size < 0 ? nil : Int(size)
    }
}
