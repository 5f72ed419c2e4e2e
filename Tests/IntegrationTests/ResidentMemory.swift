// SPDX-License-Identifier: Apache-2.0

import TestKit
import Testing

/// How much memory a process has at the moment, in kibibytes.
func residentKilobytes(of process: Int32) throws -> Int {
    let line = try readFile("/proc/\(process)/status").split(separator: "\n")
        .first { $0.hasPrefix("VmRSS:") }
    let number = line?.split { !$0.isNumber }.first.flatMap { Int($0) }
    return try #require(number)
}
