// SPDX-License-Identifier: Apache-2.0

private import CLinux
public import EventLoop
private import Glibc

/// A serial line without hardware: a test is the receiver at one end, and a program opens the
/// other by its path.
///
/// It shows what a program does with a line: how it sets it, whom it lets in, when it lets go. It
/// cannot show what a rate does to bytes, for they pass at any; a test looks at ``rate`` and sends
/// what a receiver of another rate would seem to send. Nor has it a modem's lines (`TIOCMGET`) or
/// counts of framing errors (`TIOCGICOUNT`).
@LoopActor public final class PseudoTerminal {
    /// The path of the end that a program opens.
    public let path: String
    private var controller: Descriptor?

    /// Makes a line that nobody has opened.
    ///
    /// - Throws: What the system says.
    public init() throws {
        let controller = try Descriptor("make a pseudo-terminal") {
            posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
        }
        var name = [CChar](repeating: 0, count: 64)
        guard grantpt(controller.number) == 0, unlockpt(controller.number) == 0,
            ptsname_r(controller.number, &name, name.count) == 0
        else { throw SystemError(operation: "make a pseudo-terminal") }
        path = String(
            decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) },
            as: UTF8.self
        )
        self.controller = consume controller
    }

    /// Sends a text; what does not fit into the line is lost, as it is on a real one.
    public func send(_ text: String) {
        send(Array(text.utf8))
    }

    /// Sends bytes.
    public func send(_ bytes: [UInt8]) {
        guard let number = controller?.number else { return }
        _ = write(number, bytes, bytes.count)
    }

    /// Pulls the plug.
    public func unplug() {
        controller = nil
    }

    /// Whether a program has set the line to raw bytes, as receivers need it.
    public var isRaw: Bool {
        guard let settings else { return false }
        return settings.c_lflag & tcflag_t(ICANON | ECHO | ISIG) == 0
            && settings.c_iflag & tcflag_t(ICRNL | IXON | ISTRIP) == 0
            && settings.c_cflag & tcflag_t(CSIZE | PARENB | CSTOPB) == tcflag_t(CS8)
    }

    /// The baud rate that the line is set to, 0 if it is none of a receiver's.
    public var rate: Int {
        guard var settings else { return 0 }
        let constant = cfgetospeed(&settings)
        let rates = [1200, 2400, 4800, 9600, 19200, 38400, 57600, 115_200, 230_400, 460_800]
        return rates.first { rate in
            var other = termios()
            return cfsetspeed(&other, speed_t(rate)) == 0 && cfgetospeed(&other) == constant
        } ?? 0
    }

    /// The settings of the line; both ends have the same.
    private var settings: termios? {
        var settings = termios()
        guard let number = controller?.number, tcgetattr(number, &settings) == 0 else { return nil }
        return settings
    }

    /// Whether this process has the line open.
    ///
    /// - Throws: What the system says.
    public func isHeld() throws -> Bool {
        guard let list = opendir("/proc/self/fd") else {
            throw SystemError(operation: "list /proc/self/fd")
        }
        defer { closedir(list) }
        while let entry = readdir(list) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            var target = [CChar](repeating: 0, count: 128)
            let length = readlink("/proc/self/fd/\(name)", &target, target.count)
            let bytes = target.prefix(max(length, 0)).map { UInt8(bitPattern: $0) }
            if String(decoding: bytes, as: UTF8.self) == path { return true }
        }
        return false
    }
}
