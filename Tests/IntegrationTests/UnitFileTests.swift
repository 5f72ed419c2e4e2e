// SPDX-License-Identifier: Apache-2.0

import EventLoop
import TestKit
import Testing

@Suite(.enabled(if: isInstalled("systemd-analyze"), "skipped: systemd-analyze is not installed"))
@LoopActor struct UnitFileTests {
    private let folder: TemporaryFolder
    private let unit: String

    /// The unit with the program that was built, since none is installed.
    init() async throws {
        folder = try TemporaryFolder()
        unit = try folder.write(
            "waymark.service",
            try ProjectFiles.text("data/waymark.service").split(
                separator: "\n",
                omittingEmptySubsequences: false
            )
            .map { line in
                line.hasPrefix("ExecStart=")
                    ? "ExecStart=\(try builtProgram("waymarkd")) --state %S/waymark" : String(line)
            }
            .joined(separator: "\n")
        )
    }

    @Test func `the unit has no mistake`() async throws {
        let check = try ChildProcess("systemd-analyze", ["verify", unit])
        #expect(try await check.waitForExit() == .status(0), "\(check.output)")
        #expect(!check.output.contains("waymark.service"), "\(check.output)")
    }

    @Test func `the unit leaves the daemon an exposure of 1·8 at the most`() async throws {
        let check = try ChildProcess(
            "systemd-analyze",
            ["security", "--offline=true", "--no-pager", "--threshold=18", unit]
        )
        #expect(try await check.waitForExit() == .status(0), "\(check.output)")
        #expect(check.output.contains("Overall exposure level"), "\(check.output)")
    }
}
