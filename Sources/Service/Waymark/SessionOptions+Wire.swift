// SPDX-License-Identifier: Apache-2.0

internal import DBus
internal import Interfaces

extension SessionOptions {
    /// Reads the options of `CreateSession`.
    init(_ entries: [String: Value]) throws(DBusError) {
        for (key, value) in entries {
            switch (key, value) {
            case ("desired-accuracy", .string(let word)):
                desiredAccuracy = try DesiredAccuracy(word: word)
            case ("distance-filter", .double(let metres)): try setDistanceFilter(metres)
            case ("minimum-interval", .uint32(let milliseconds)):
                minimumInterval = .milliseconds(milliseconds)
            case ("activity-type", .string(let word)): try setActivityType(word)
            default:
                throw DBusError(
                    WireError.invalidArguments,
                    "there is no option “\(key)” of type “\(value.signature)”: allowed are"
                        + " desired-accuracy s, distance-filter d, minimum-interval u"
                        + " and activity-type s"
                )
            }
        }
    }

    mutating func setDistanceFilter(_ metres: Double) throws(DBusError) {
        guard metres >= 0, metres.isFinite else {
            throw DBusError(
                WireError.invalidArguments,
                "distance-filter is a distance in metres, 0 for any move"
            )
        }
        distanceFilterMetres = metres
    }

    mutating func setActivityType(_ word: String) throws(DBusError) {
        guard let known = ActivityType(rawValue: word) else {
            throw DBusError(
                WireError.invalidArguments,
                "activity-type “\(word)” is none of "
                    + ActivityType.allCases.map(\.rawValue).joined(separator: ", ")
            )
        }
        activityType = known
    }

    /// The interval as it travels: whole milliseconds.
    var minimumIntervalMilliseconds: UInt32 {
        UInt32((minimumInterval / .milliseconds(1)).rounded())
    }
}
