// SPDX-License-Identifier: Apache-2.0

internal import DBus
internal import Interfaces

/// The options of `CreateSession`: an `a{sv}` of which nothing unknown is read, however large.
struct SessionOptionEntries: DBusDecodable {
    let options: SessionOptions

    static var signature: Signature { [String: Value].signature }

    init(from reader: inout MessageReader) throws(DBusError) {
        var options = SessionOptions()
        try reader.readArray { reader throws(DBusError) in
            try reader.readEntry { entry throws(DBusError) in
                let key: String = try entry.next()
                try entry.readVariant { content, type throws(DBusError) in
                    try options.take(key, &content, type)
                }
            }
        }
        self.options = options
    }
}

extension SessionOptions {
    /// Reads one option if it is known by its name and type.
    fileprivate mutating func take(
        _ key: String,
        _ content: inout MessageReader,
        _ type: Signature
    ) throws(DBusError) {
        switch (key, type.string) {
        case ("desired-accuracy", "s"):
            desiredAccuracy = try DesiredAccuracy(word: try content.next())
        case ("distance-filter", "d"): try setDistanceFilter(try content.next())
        case ("minimum-interval", "u"):
            minimumInterval = .milliseconds(try content.next(UInt32.self))
        case ("activity-type", "s"): try setActivityType(try content.next())
        default:
            throw DBusError(
                WireError.invalidArguments,
                "there is no option “\(key)” of type “\(type)”: allowed are"
                    + " desired-accuracy s, distance-filter d, minimum-interval u"
                    + " and activity-type s"
            )
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
