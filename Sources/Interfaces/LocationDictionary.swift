// SPDX-License-Identifier: Apache-2.0

public import DBus
public import Geo

/// A location as it travels over the bus: an `a{sv}` in which what is unknown is absent.
public struct LocationDictionary: DBusCodable, Hashable {
    /// The fix.
    public var fix: Fix

    /// Whether the fix was made before it was asked for.
    public var isCached: Bool

    /// Makes a location of a fix.
    public init(_ fix: Fix, isCached: Bool) {
        self.fix = fix
        self.isCached = isCached
    }

    /// The type is `a{sv}`.
    public static var signature: Signature { [String: Value].signature }

    /// Writes the entries that are known.
    public func encode(into writer: inout MessageWriter) throws(DBusError) {
        try writer.appendArray(of: Signature(unchecked: "{sv}")) { writer throws(DBusError) in
            try writer.appendOption(Key.latitude, fix.coordinate.latitude)
            try writer.appendOption(Key.longitude, fix.coordinate.longitude)
            try writer.appendOption(Key.horizontalAccuracy, fix.horizontalAccuracy)
            for (key, path) in Self.optionalNumbers {
                if let number = fix[keyPath: path] { try writer.appendOption(key, number) }
            }
            try writer.appendOption(Key.timestamp, fix.timestamp.microseconds)
            try writer.appendOption(Key.source, fix.source)
            try writer.appendOption(Key.simulated, fix.isSimulated)
            try writer.appendOption(Key.cached, isCached)
        }
    }

    /// Reads entries, passing over those that are not known.
    public init(from reader: inout MessageReader) throws(DBusError) {
        let entries: [String: Value] = try reader.next()
        guard let latitude = entries[Key.latitude]?.double,
            let longitude = entries[Key.longitude]?.double,
            let coordinate = Coordinate(latitude: latitude, longitude: longitude),
            let accuracy = entries[Key.horizontalAccuracy]?.double,
            let time = entries[Key.timestamp]?.integer
        else {
            throw DBusError(
                .invalidArguments,
                "a location needs latitude, longitude, horizontal-accuracy and timestamp"
            )
        }
        fix = Fix(
            coordinate: coordinate,
            horizontalAccuracy: accuracy,
            timestamp: Timestamp(microseconds: Int64(time)),
            source: entries[Key.source]?.string ?? "",
            isSimulated: entries[Key.simulated]?.bool ?? false
        )
        for (key, path) in Self.optionalNumbers { fix[keyPath: path] = entries[key]?.double }
        isCached = entries[Key.cached]?.bool ?? false
    }

    /// The keys, as documented in the interface's XML.
    private enum Key {
        static let latitude = "latitude"
        static let longitude = "longitude"
        static let horizontalAccuracy = "horizontal-accuracy"
        static let timestamp = "timestamp"
        static let source = "source"
        static let simulated = "simulated"
        static let cached = "cached"
    }

    private static var optionalNumbers: [(String, WritableKeyPath<Fix, Double?>)] {
        [
            ("altitude", \.altitude),
            ("ellipsoidal-altitude", \.ellipsoidalAltitude),
            ("vertical-accuracy", \.verticalAccuracy),
            ("speed", \.speed),
            ("speed-accuracy", \.speedAccuracy),
            ("course", \.course),
            ("course-accuracy", \.courseAccuracy),
        ]
    }
}
