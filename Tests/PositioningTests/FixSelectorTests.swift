// SPDX-License-Identifier: Apache-2.0

import Geo
import Testing

@testable import Positioning

@Suite struct FixSelectorTests {
    /// What comes, from which source, when, and whether it is to be passed on.
    ///
    /// Times are in seconds: when it comes and when it was made.
    struct Step: Sendable {
        var source: Int
        var at: Double
        var made: Double
        var metres: Double
        var isPassedOn: Bool
        /// Whether the source fails instead.
        var isDrop = false

        init(_ source: Int, _ at: Double, made: Double? = nil, _ metres: Double, _ passed: Bool) {
            (self.source, self.at, self.made) = (source, at, made ?? at)
            (self.metres, isPassedOn) = (metres, passed)
        }

        static func drop(_ source: Int, _ at: Double) -> Step {
            var step = Step(source, at, 1, true)
            step.isDrop = true
            return step
        }
    }

    @Test(arguments: [
        ("one source", [Step(0, 0, 5, true), Step(0, 1, 500, true), Step(0, 2, 5, true)]),
        (
            "the followed one stays",
            [Step(0, 0, 5, true), Step(1, 0.5, 5, false), Step(0, 1, 5, true)]
        ),
        ("a little better is not enough", [Step(0, 0, 10, true), Step(1, 0.5, 5.1, false)]),
        ("twice as exact takes over", [Step(0, 0, 10, true), Step(1, 0.5, 5, true)]),
        (
            "who is followed is not left for the worse",
            [Step(1, 0, 1000, true), Step(0, 1, 5, true), Step(1, 2, 1000, false)]
        ),
        ("silence of less than ten seconds", [Step(0, 0, 5, true), Step(1, 9.999, 5, false)]),
        ("silence of ten seconds", [Step(0, 0, 5, true), Step(1, 10, 1000, true)]),
        (
            "back after silence, and twice as exact",
            [Step(0, 0, 5, true), Step(1, 10, 1000, true), Step(0, 10.5, 5, true)]
        ),
        (
            "back after silence, as exact",
            [Step(0, 0, 5, true), Step(1, 10, 5, true), Step(0, 10.5, 5, false)]
        ),
        ("the followed one fails", [Step(0, 0, 5, true), .drop(0, 1), Step(1, 1, 1000, true)]),
        (
            "another one fails",
            [Step(0, 0, 5, true), Step(1, 1, 5, false), .drop(1, 2), Step(1, 3, 5, false)]
        ),
        ("one that never spoke fails", [.drop(3, 0), Step(0, 0, 5, true)]),
        ("late news", [Step(0, 1, 5, true), Step(0, 2, made: 0.9, 5, false)]),
        ("nearly a minute late", [Step(0, 60, 5, true), Step(0, 61, made: 0.1, 5, false)]),
        ("a recording that begins anew", [Step(0, 60, 5, true), Step(0, 61, made: 0, 5, true)]),
        ("the same time again", [Step(0, 1, 5, true), Step(0, 2, made: 1, 5, true)]),
        (
            "late news counts for nothing",
            [Step(0, 1, 5, true), Step(0, 9, made: 0.5, 5, false), Step(1, 11, 50, true)]
        ),
        (
            "sources have clocks of their own",
            [Step(0, 0, made: 1000, 10, true), Step(1, 1, made: 1, 1, true)]
        ),
        (
            "after a failure its time may go back",
            [Step(0, 30, 5, true), .drop(0, 31), Step(0, 32, made: 20, 5, true)]
        ),
    ])
    func `the best fix is passed on`(name: String, steps: [Step]) throws {
        var selector = FixSelector()
        let start = ContinuousClock.now
        for step in steps {
            if step.isDrop {
                selector.drop(step.source)
                continue
            }
            let fix = Fix(
                coordinate: try #require(Coordinate(latitude: 48, longitude: 11)),
                horizontalAccuracy: step.metres,
                timestamp: Timestamp(microseconds: Int64(step.made * 1_000_000)),
                source: "test"
            )
            let now = start.advanced(by: .milliseconds(Int64(step.at * 1000)))
            let isPassedOn = selector.accepts(fix, from: step.source, at: now)
            #expect(isPassedOn == step.isPassedOn, "\(name): \(step)")
        }
    }
}
