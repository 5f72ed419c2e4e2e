// SPDX-License-Identifier: Apache-2.0

import TestKit
import Testing

@Suite struct TestKitTests {
    @Test func `a program that is installed is found, another is not`() {
        #expect(isInstalled("sh"))
        #expect(!isInstalled("no-such-program"))
    }

    @Test func `both programs are built beside the tests`() throws {
        #expect(try builtProgram("waymarkd").hasSuffix("/waymarkd"))
        #expect(try builtProgram("waymark").hasSuffix("/waymark"))
        #expect(throws: (any Error).self) { try builtProgram("no-such-program") }
    }
}
