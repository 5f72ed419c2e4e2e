// SPDX-License-Identifier: Apache-2.0

private import CLinux
internal import EventLoop
private import Glibc

/// What is done with the device of a serial line; each call may block while the device is slow.
enum SerialDevice {
    /// Why a line cannot be used: one clause that says what can be done about it.
    struct Failure: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) {
            self.description = description
        }
    }

    /// Opens a line for this process alone.
    ///
    /// It is opened for reading: receivers are only listened to. Two locks keep others out, and
    /// this process if another one has them: `TIOCEXCL`, with which the kernel lets nobody but
    /// root open the line (so that it is asked for as well), and `flock`, which terminal programs
    /// take.
    ///
    /// - Parameter path: The device.
    /// - Returns: The descriptor's number, which is the caller's to close.
    /// - Throws: Why not.
    static func open(_ path: String) throws(Failure) -> CInt {
        let number: CInt
        do throws(SystemError) {
            number = try retryingOnInterrupt("open \(path)") {
                // Without O_NONBLOCK it would wait for a modem's carrier; with O_NOCTTY the line
                // does not become the terminal that can interrupt this process.
                Glibc.open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
            }
        } catch {
            throw explanation(of: error, path: path)
        }
        if isatty(number) != 1 {
            close(number)
            throw Failure("\(path) is no serial line")
        }
        if clinux_is_exclusive(number) == 1 || flock(number, LOCK_EX | LOCK_NB) != 0 {
            close(number)
            throw busy(path)
        }
        _ = clinux_set_exclusive(number, 1)
        return number
    }

    /// Sets a line to raw bytes of 8 bits without parity and with 1 stop bit, at a rate, and drops
    /// what has come at another one.
    ///
    /// - Parameters:
    ///   - number: The line's descriptor.
    ///   - path: Its name, for messages.
    ///   - rate: The baud rate.
    /// - Throws: If the line cannot do so.
    static func setUp(_ number: CInt, _ path: String, rate: Int) throws(Failure) {
        var wanted = termios()
        guard tcgetattr(number, &wanted) == 0 else {
            throw Failure("\(SystemError(operation: "set up \(path)"))")
        }
        let before = cfgetispeed(&wanted)
        cfmakeraw(&wanted)
        wanted.c_cflag |= tcflag_t(CLOCAL | CREAD)
        wanted.c_cflag &= ~(tcflag_t(CSTOPB) | tcflag_t(CRTSCTS))
        withUnsafeMutableBytes(of: &wanted.c_cc) { characters in
            // At least one byte: a read of none is the line's end then, not its silence.
            characters[Int(VMIN)] = 1
            characters[Int(VTIME)] = 0
        }
        // The C library knows the rates by their numbers as well as by its own constants.
        guard cfsetspeed(&wanted, speed_t(rate)) == 0, tcsetattr(number, TCSANOW, &wanted) == 0
        else { throw Failure("\(SystemError(operation: "set \(path) to \(rate) baud"))") }
        // It succeeds if anything could be set: what counts is what the line has now.
        var actual = termios()
        guard tcgetattr(number, &actual) == 0,
            cfgetispeed(&actual) == cfgetispeed(&wanted),
            actual.c_cflag & tcflag_t(CSIZE | PARENB | CSTOPB) == tcflag_t(CS8)
        else { throw Failure("\(path) cannot be set to \(rate) baud, 8 bits, no parity") }
        if cfgetispeed(&actual) != before { tcflush(number, TCIFLUSH) }
    }

    /// Gives a line back.
    ///
    /// A line may outlive its last descriptor, as a pseudo-terminal does, and its exclusive mode
    /// with it.
    static func release(_ number: CInt) {
        _ = clinux_set_exclusive(number, 0)
        close(number)
    }

    private static func busy(_ path: String) -> Failure {
        Failure("cannot open \(path): another program has it, such as gpsd or ModemManager")
    }

    /// What a person can do about a device that cannot be opened.
    static func explanation(of error: SystemError, path: String) -> Failure {
        switch error.code {
        case ENOENT, ENXIO, ENODEV:
            return Failure(
                "cannot open \(path): there is no such device; is the receiver plugged in?"
            )
        case EBUSY: return busy(path)
        case EACCES: return refusal(path) ?? Failure("\(error)")
        default: return Failure("\(error)")
        }
    }

    /// Whose the device is, and how this process becomes one of them.
    private static func refusal(_ path: String) -> Failure? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        let user = userName(geteuid())
        guard status.st_mode & S_IRGRP != 0 else {
            return Failure("cannot open \(path): only its owner \(userName(status.st_uid)) may")
        }
        let group = groupName(status.st_gid)
        return Failure(
            "cannot open \(path): only the group \(group) may, and \(user) is not in it; as root,"
                + " “usermod --append --groups \(group) \(user)” and a restart change that"
        )
    }

    private static func userName(_ id: uid_t) -> String {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 4096)
        getpwuid_r(id, &entry, &buffer, buffer.count, &found)
        return found.map { String(cString: $0.pointee.pw_name) } ?? "\(id)"
    }

    private static func groupName(_ id: gid_t) -> String {
        var entry = group()
        var found: UnsafeMutablePointer<group>?
        // A group has the names of all its members with it.
        var buffer = [CChar](repeating: 0, count: 65_536)
        getgrgid_r(id, &entry, &buffer, buffer.count, &found)
        return found.map { String(cString: $0.pointee.gr_name) } ?? "\(id)"
    }
}
