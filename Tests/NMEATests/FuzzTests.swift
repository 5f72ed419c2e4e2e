// SPDX-License-Identifier: Apache-2.0

import EventLoop
import TestKit
import Testing

/// A short run of the fuzzer of the reader; `make fuzz` has a long one.
@Suite @LoopActor struct NMEAFuzzTests {
    @Test func `thousands of damaged streams give fixes that can be, or none`() async throws {
        let tests = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
        let fuzzer = try ChildProcess(
            try builtProgram("fuzz-nmea"),
            ["--count", "20000", "--seed", "7", "/\(tests)/Fuzz/NMEA/corpus"]
        )
        let exit = try await fuzzer.waitForExit(within: .seconds(100))
        #expect(exit == .status(0), "it printed: \(fuzzer.output)")
        #expect(fuzzer.output.contains(" 20032 inputs"))
    }
}
