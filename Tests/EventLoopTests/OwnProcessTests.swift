// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import TestKit
import Testing

/// The loop as a daemon has it: on the main thread of a process, which has no other.
@Suite struct OwnProcessTests {
    @Test @LoopActor func `the main thread is enough, and signals and stopping work`()
        async throws
    {
        let probe = try ChildProcess(try builtProgram("LoopProbe"))
        try await probe.line(containing: "running with 1 thread")
        probe.signal(SIGHUP)
        try await probe.line(containing: "SIGHUP")
        probe.signal(SIGTERM)
        try await probe.line(containing: "SIGTERM")
        try await probe.line(containing: "stopped")
        #expect(try await probe.waitForExit() == .status(0))
    }
}
