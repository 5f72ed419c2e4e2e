// SPDX-License-Identifier: Apache-2.0

internal import EventLoop

/// One attempt to reach something that bytes come from, and the way to it if that succeeds.
///
/// It ends once: by itself, which is told, or silently by ``close()``.
@LoopActor protocol Link: AnyObject {
    /// Sends a few bytes, as far as the kernel takes them now; for requests, not for streams.
    func send(_ text: String)

    /// Ends it at once, also while it is still being made; the handler is not called again.
    func close()
}

/// What happens on a link, in this order; never before the call that makes it has returned.
enum LinkEvent {
    /// It has been made.
    case opened
    /// The next bytes of a stream have come.
    case bytes(ArraySlice<UInt8>)
    /// A datagram has come.
    case datagram(ArraySlice<UInt8>, from: SocketAddress)
    /// It is over; the reason is a clause.
    case ended(reason: String)
}

extension Link {
    /// Nothing: most of what is linked to only talks.
    func send(_ text: String) {}
}
