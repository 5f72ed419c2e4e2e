// SPDX-License-Identifier: Apache-2.0

private import Glibc

/// A variable of the process's environment, `nil` if it is not set or empty.
func environment(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
}
