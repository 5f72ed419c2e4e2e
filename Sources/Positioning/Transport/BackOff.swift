// SPDX-License-Identifier: Apache-2.0

/// How long to wait before each attempt to reach something that cannot be reached.
struct BackOff: Hashable {
    static let first = Duration.milliseconds(500)
    static let longest = Duration.seconds(10)

    /// The longest wait for something that could be reached and said something before it ended.
    static let longestAfterBytes = Duration.seconds(2)

    /// How long it must be there to count as reached.
    static let trial = Duration.seconds(5)

    private var following = BackOff.first

    /// The wait before the next attempt: half a second, then twice as long each time, up to ten.
    mutating func next() -> Duration {
        defer { following = min(following * 2, Self.longest) }
        return following
    }

    /// It was reached.
    mutating func reset() {
        following = Self.first
    }
}
