// SPDX-License-Identifier: Apache-2.0

/// How much a connection sends at a time; more is refused with `LimitsExceeded`.
///
/// A bus ends the connection of who exceeds its limits, so they are kept on this side.
public struct SendingLimits: Hashable, Sendable {
    /// How large the arguments of one message may be, in bytes.
    ///
    /// By default a little less than 32 MiB, which the system bus allows with the header.
    public var messageSize = (32 << 20) - (64 << 10)

    /// How many descriptors one message may carry; by default 16, which every bus allows.
    public var descriptorsPerMessage = 16

    /// How many bytes may wait for a bus that does not read; by default 64 MiB.
    ///
    /// ``Connection/flush()`` waits until they have been written.
    public var queuedSize = 64 << 20

    /// Makes the default limits.
    public init() {}

    func allow(_ message: borrowing Message, queued: Int) throws(DBusError) {
        guard message.isWhole else { throw .notWhole }
        guard message.size <= messageSize else {
            throw DBusError(
                .limitsExceeded,
                "the message has \(message.size) bytes, the limit is \(messageSize)"
            )
        }
        guard message.descriptorCount <= descriptorsPerMessage else {
            throw DBusError(
                .limitsExceeded,
                "the message has \(message.descriptorCount) descriptors,"
                    + " the limit is \(descriptorsPerMessage)"
            )
        }
        guard queued <= queuedSize else {
            throw DBusError(
                .limitsExceeded,
                "the bus is not reading: \(queued) bytes wait for it, the limit is \(queuedSize)"
            )
        }
    }
}
