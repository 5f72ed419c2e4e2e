// SPDX-License-Identifier: Apache-2.0

public import Geo

/// A GLL sentence: position and time, from chart plotters and sounders often the only one.
///
/// Versions with a status (6 fields) and with status and mode (7) are known. Older ones, of 4 or
/// 5 fields, cannot say whether the receiver stands behind the position: it is not taken.
public struct GLL: Hashable, Sendable {
    /// The time of day in UTC, in microseconds.
    public var timeOfDay: Int64?

    /// How the receiver came to its position; `nil` if it does not say.
    public var quality: Quality?

    /// Where; `nil` unless the receiver stands behind it.
    public var coordinate: Coordinate?

    /// Whether the receiver says that it has no position: a status other than `A`, or mode `N`.
    public var isVoid: Bool

    /// Reads the fields, or makes `nil` of a sentence that is to be refused.
    init?(_ line: Span<UInt8>, _ frame: Frame) {
        guard (4...7).contains(frame.fieldCount) else { return nil }
        guard line.readTimeOfDay(frame.field(5), into: &timeOfDay) else { return nil }
        let status = frame.field(6)
        guard status.count <= 1, frame.field(7).count <= 1 else { return nil }
        if let letter = line.letter(frame.field(7)) { quality = Quality(mode: letter) }
        isVoid = quality == .invalid || !status.isEmpty && line.letter(status) != UInt8(ascii: "A")
        guard !status.isEmpty, !isVoid else { return }
        guard let coordinate = line.coordinate(frame, from: 1) else { return nil }
        self.coordinate = coordinate
    }
}
