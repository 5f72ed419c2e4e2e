// SPDX-License-Identifier: Apache-2.0

private import Glibc

/// A system call that failed: which one, and the `errno` it left.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The value of `errno`.
    public let code: CInt

    /// What was tried, as the subject of a sentence: `connect to /run/gps.sock`.
    public let operation: String

    /// Makes an error from a saved `errno`.
    public init(code: CInt, operation: String) {
        self.code = code
        self.operation = operation
    }

    /// Makes an error from the calling thread's current `errno`.
    public init(operation: String) {
        self.init(code: errno, operation: operation)
    }

    /// One sentence without a full stop, such as `cannot open /dev/ttyUSB0: Permission denied`.
    public var description: String { "cannot \(operation): \(reason)" }

    /// The system's words for the code.
    public var reason: String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard strerror_r(code, &buffer, buffer.count) == 0 else { return "error \(code)" }
        return String(
            decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) },
            as: UTF8.self
        )
    }
}

/// Repeats a system call while signals interrupt it.
///
/// - Parameters:
///   - operation: What is tried, for the error.
///   - call: Returns −1 and sets `errno` on failure.
/// - Returns: The call's result.
/// - Throws: The reason in `errno` if it is another one than an interruption.
@discardableResult
package func retryingOnInterrupt<Result: SignedInteger>(
    _ operation: @autoclosure () -> String,
    _ call: () -> Result
) throws(SystemError) -> Result {
    while true {
        let result = call()
        if result != -1 { return result }
        let code = errno
        if code != EINTR { throw SystemError(code: code, operation: operation()) }
    }
}
