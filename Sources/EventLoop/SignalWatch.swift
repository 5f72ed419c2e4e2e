// SPDX-License-Identifier: Apache-2.0

private import CLinux
private import Glibc

/// Signals of the process, received on the event loop like any other event (`signalfd`).
@LoopActor public final class SignalWatch {
    private let descriptor: Descriptor
    private var watch: DescriptorWatch?

    /// Keeps signals from their default action, for the calling thread and those it starts.
    ///
    /// Call it first thing in `main`, before there are other threads; the event loop then
    /// receives the signals through a watch. Child processes inherit the mask: whoever starts
    /// one must give it an empty one.
    ///
    /// - Parameter signals: `SIGTERM` and its like.
    public nonisolated static func block(_ signals: [CInt]) {
        var set = signalSet(signals)
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Starts to receive signals that have been blocked.
    ///
    /// - Parameters:
    ///   - signals: `SIGTERM` and its like.
    ///   - handler: Called with each signal, on the loop, where anything may be done.
    /// - Throws: If the kernel has no descriptor left.
    public init(
        _ signals: [CInt],
        handler: @escaping @LoopActor (CInt) -> Void
    ) throws(SystemError) {
        var set = signalSet(signals)
        descriptor = try Descriptor("create a signalfd") {
            signalfd(-1, &set, CInt(SFD_CLOEXEC | SFD_NONBLOCK))
        }
        watch = DescriptorWatch(descriptor.number, for: .readable) { [weak self] _ in
            // The handler may let go of this object, and the descriptor is closed then.
            while let signal = self?.next() { handler(signal) }
        }
    }

    isolated deinit {
        watch?.cancel()
    }

    /// The next signal that has come, `nil` if there is none.
    private func next() -> CInt? {
        var info = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        return read(descriptor.number, &info, size) == size ? CInt(info.ssi_signo) : nil
    }
}

private func signalSet(_ signals: [CInt]) -> sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in signals { sigaddset(&set, signal) }
    return set
}
