// SPDX-License-Identifier: Apache-2.0

import EventLoop
import TestKit
import Testing

/// A short run of the fuzzer of the decoder; `make fuzz` has a long one.
@Suite @LoopActor struct FuzzTests {
    @Test func `thousands of damaged messages are read as what they are or refused`() async throws {
        let fuzzer = try ChildProcess(
            try builtProgram("fuzz-dbus"),
            ["--count", "20000", "--seed", "7"]
        )
        let exit = try await fuzzer.waitForExit(within: .seconds(100))
        #expect(exit == .status(0), "it printed: \(fuzzer.output)")
        #expect(fuzzer.output.contains(" 20000 inputs"))
    }
}
