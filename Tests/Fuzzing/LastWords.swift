// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What the program says when it crashes or hangs: how to make it do so again.
package enum LastWords {
    private nonisolated(unsafe) static let text = UnsafeMutableRawBufferPointer.allocate(
        byteCount: 256,
        alignment: 1
    )
    private nonisolated(unsafe) static var count = 0
    private static let isPrepared: Void = {
        _ = text
        var action = sigaction()
        // The handler says the words and lets the signal do what it does without one.
        action.sa_flags = CInt(bitPattern: UInt32(SA_RESETHAND)) | SA_NODEFER
        action.__sigaction_handler.sa_handler = { signal in
            write(2, text.baseAddress, count)
            raise(signal)
        }
        for signal in [SIGILL, SIGTRAP, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGALRM] {
            sigaction(signal, &action, nil)
        }
    }()

    /// Sets what is said at a crash or when the alarm rings.
    package static func set(_ words: String) {
        _ = isPrepared
        count = 0
        text.copyBytes(from: words.utf8)
        count = words.utf8.count
    }
}
