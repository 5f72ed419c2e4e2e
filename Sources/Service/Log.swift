// SPDX-License-Identifier: Apache-2.0

private import CSystemd
public import EventLoop
private import Glibc

/// Where events are told to the administrator, in sentences that never hold a coordinate.
@LoopActor public protocol Log: Sendable {
    /// Tells an event.
    ///
    /// - Parameters:
    ///   - severity: How much it matters.
    ///   - message: One sentence without a full stop.
    func write(_ severity: Severity, _ message: String)
}

/// How much an event matters: the levels of syslog that the service uses.
public enum Severity: Int32, Comparable, Sendable {
    /// The service cannot do what it is for.
    case error = 3
    /// Something needs the administrator's attention.
    case warning = 4
    /// Something worth knowing happened.
    case info = 6
    /// Details for whoever looks for a fault.
    case debug = 7

    /// Orders by how little it matters.
    public static func < (left: Severity, right: Severity) -> Bool {
        left.rawValue < right.rawValue
    }
}

extension Log {
    /// Tells that the service cannot do what it is for.
    public func error(_ message: String) { write(.error, message) }

    /// Tells what needs attention.
    public func warning(_ message: String) { write(.warning, message) }

    /// Tells what happened.
    public func info(_ message: String) { write(.info, message) }

    /// Tells details.
    public func debug(_ message: String) { write(.debug, message) }
}

/// The journal if the service manager has connected standard error to it, standard error else.
public struct SystemLog: Log {
    private let isJournal: Bool
    private let threshold: Severity

    /// Finds out where to write.
    ///
    /// - Parameter threshold: What matters less is not written.
    public nonisolated init(threshold: Severity = .info) {
        isJournal = Self.isStandardErrorJournal
        self.threshold = threshold
    }

    /// Writes one entry.
    ///
    /// The C function is `sd_journal_sendv`.
    public func write(_ severity: Severity, _ message: String) {
        guard severity <= threshold else { return }
        if isJournal {
            Self.send(["PRIORITY=\(severity.rawValue)", "MESSAGE=\(message)"])
        } else {
            let line = Array("waymarkd: \(message)\n".utf8)
            // Who does not read what the daemon tells must not stop it: then it is not told.
            var state = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
            guard poll(&state, 1, 0) == 1 else { return }
            _ = Glibc.write(STDERR_FILENO, line, line.count)
        }
    }

    /// The service manager names the device and inode of what it has connected.
    private nonisolated static var isStandardErrorJournal: Bool {
        guard let text = getenv("JOURNAL_STREAM") else { return false }
        var status = stat()
        guard fstat(STDERR_FILENO, &status) == 0 else { return false }
        return String(cString: text) == "\(status.st_dev):\(status.st_ino)"
    }

    private static func send(_ fields: [String]) {
        var buffers = fields.map { field in
            let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: field.utf8.count)
            _ = bytes.initialize(from: field.utf8)
            return iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
        }
        defer { for buffer in buffers { buffer.iov_base?.deallocate() } }
        sd_journal_sendv(&buffers, CInt(buffers.count))
    }
}

/// Tells the service manager a state of the service; without effect if there is none.
///
/// - Parameter state: Lines such as `READY=1`. The C function is `sd_notify`.
public func notifyServiceManager(_ state: String) {
    sd_notify(0, state)
}
