// SPDX-License-Identifier: Apache-2.0

private import Glibc

/// A file descriptor with one owner, closed when the owner lets go of it.
public struct Descriptor: ~Copyable, Sendable {
    /// The number the kernel knows it by; valid while this value lives.
    public let number: CInt

    /// Takes over a descriptor that nobody else will close.
    public init(adopting number: CInt) {
        self.number = number
    }

    /// Takes over what a system call returned, or throws what it left in `errno`.
    ///
    /// - Parameters:
    ///   - operation: What is tried, for the error.
    ///   - call: Returns a new descriptor, or −1.
    /// - Throws: The reason in `errno`, unless that is an interruption by a signal.
    public init(_ operation: String, _ call: () -> CInt) throws(SystemError) {
        number = try retryingOnInterrupt(operation, call)
    }

    deinit {
        close(number)
    }
}
