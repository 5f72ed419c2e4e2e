// SPDX-License-Identifier: Apache-2.0

/// A mistake in the configuration: where it is, and what is allowed there.
public struct ConfigurationError: Error, Hashable, CustomStringConvertible {
    /// The file, as it was named.
    public let file: String
    /// The line, counted from 1; `nil` if it is about the file as a whole.
    public let line: Int?
    /// What is wrong and what would be right.
    public let message: String

    init(_ file: String, line: Int? = nil, _ message: String) {
        self.file = file
        self.line = line
        self.message = message
    }

    /// `FILE:LINE: message`, as compilers put it.
    public var description: String {
        "\(file):\(line.map { "\($0):" } ?? "") \(message)"
    }
}
