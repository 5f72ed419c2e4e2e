// SPDX-License-Identifier: Apache-2.0

internal import Geo

/// What a receiver has said about one instant.
struct Epoch {
    /// The types of sentences that carry a position.
    enum Part {
        case gga
        case rmc
    }

    /// The time of day that all sentences of the epoch share.
    private(set) var timeOfDay: Int64?

    /// When the first of its sentences arrived.
    let arrivedAt: Timestamp

    /// The GGA: the first with a position, else the first.
    private(set) var gga: GGA?

    /// The RMC: the first with a position, else the first.
    private(set) var rmc: RMC?

    /// The type of the sentence that came last.
    private(set) var lastPart: Part?

    /// Whether the fix of the epoch has been handed out.
    var isEmitted = false

    init(arrivedAt: Timestamp) {
        self.arrivedAt = arrivedAt
    }

    /// Whether a sentence is one of this epoch.
    ///
    /// One without time belongs to it if its type has not been there yet.
    func holds(_ part: Part, timeOfDay: Int64?) -> Bool {
        guard let own = self.timeOfDay, let timeOfDay else { return !has(part) }
        return own == timeOfDay
    }

    func has(_ part: Part) -> Bool {
        switch part {
        case .gga: gga != nil
        case .rmc: rmc != nil
        }
    }

    /// Adds a sentence.
    ///
    /// A receiver may send one GGA for each constellation, and one of them has no fix of its own
    /// while another has: the first with a position counts.
    mutating func add(_ sentence: GGA) {
        if gga?.coordinate == nil, gga == nil || sentence.coordinate != nil { gga = sentence }
        note(.gga, sentence.timeOfDay)
    }

    /// Adds a sentence.
    mutating func add(_ sentence: RMC) {
        if rmc?.coordinate == nil, rmc == nil || sentence.coordinate != nil { rmc = sentence }
        note(.rmc, sentence.timeOfDay)
    }

    private mutating func note(_ part: Part, _ timeOfDay: Int64?) {
        self.timeOfDay = self.timeOfDay ?? timeOfDay
        lastPart = part
    }

    /// The position, if one sentence has it and none says that there is none.
    ///
    /// Where both have it they are nearly always equal. In the few receivers where they are not,
    /// RMC's belongs to the same fix as the speed and the course.
    var coordinate: Coordinate? {
        guard gga?.isVoid != true, rmc?.isVoid != true else { return nil }
        return rmc?.coordinate ?? gga?.coordinate
    }

    /// The fix of what has been said so far.
    ///
    /// - Parameters:
    ///   - source: The name of the source.
    ///   - instant: When, by the receiver's clock; `nil` if it has told no date.
    /// - Returns: The fix, `nil` if there is no position.
    func fix(source: String, at instant: Timestamp?) -> Fix? {
        guard let coordinate else { return nil }
        // A GGA that does not stand behind its position does not for its altitude either.
        let gga = gga?.coordinate == nil ? nil : gga
        let model = ErrorModel(quality: quality, hdop: gga?.hdop)
        var fix = Fix(
            coordinate: coordinate,
            horizontalAccuracy: model.horizontalAccuracy,
            timestamp: instant ?? arrivedAt,
            source: source,
            isSimulated: gga?.quality == .simulated || rmc?.quality == .simulated
        )
        if let altitude = gga?.altitude {
            fix.altitude = altitude
            fix.ellipsoidalAltitude = gga?.geoidSeparation.map { altitude + $0 }
            fix.verticalAccuracy = model.verticalAccuracy
        }
        fix.speed = rmc?.speed
        fix.course = rmc?.course
        return fix
    }

    /// The poorer of the qualities that were told.
    private var quality: Quality {
        guard let first = gga?.quality, let second = rmc?.quality else {
            return gga?.quality ?? rmc?.quality ?? .autonomous
        }
        return ErrorModel.rangeError(first) < ErrorModel.rangeError(second) ? second : first
    }
}
