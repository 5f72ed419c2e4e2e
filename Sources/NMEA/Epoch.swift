// SPDX-License-Identifier: Apache-2.0

internal import Geo

/// What a receiver has said about one instant.
struct Epoch {
    /// The time of day that all sentences of the epoch share.
    private(set) var timeOfDay: Int64?

    /// When the first of its sentences arrived.
    let arrivedAt: Timestamp

    /// The GGA: the first with a position, else the first.
    private(set) var gga: GGA?

    /// The RMC: the first with a position, else the first.
    private(set) var rmc: RMC?

    /// The GNS: the first with a position, else the first.
    private(set) var gns: GNS?

    /// The GLL: the first with a position, else the first.
    private(set) var gll: GLL?

    /// The VTG: the first with a speed, else the first.
    private(set) var vtg: VTG?

    /// What the GSA say together.
    private(set) var satellites = SatelliteUse()

    /// The errors that the receiver estimates: of the first GST, else of the first GBS.
    private(set) var errors = PositionErrors()

    /// How often each type of sentence has been there, and which came last.
    private(set) var tally = PartTally()

    /// Whether the fix of the epoch has been handed out.
    var isEmitted = false

    /// Whether the receiver has been silent since: what comes without a time is of the next one.
    var isOver = false

    init(arrivedAt: Timestamp) {
        self.arrivedAt = arrivedAt
    }

    /// Whether a sentence with a position is one of this epoch.
    ///
    /// One without time belongs to it if its type has not been there yet. Some receivers print
    /// more digits of the second in one type than in another; none has epochs 5 ms apart.
    func holds(_ part: Part, timeOfDay: Int64?) -> Bool {
        guard let own = self.timeOfDay, let timeOfDay else { return tally.count(part) == 0 }
        return abs(own - timeOfDay) < 5000
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

    /// Adds a sentence.
    mutating func add(_ sentence: GNS) {
        if gns?.coordinate == nil, gns == nil || sentence.coordinate != nil { gns = sentence }
        note(.gns, sentence.timeOfDay)
    }

    /// Adds a sentence.
    mutating func add(_ sentence: GLL) {
        if gll?.coordinate == nil, gll == nil || sentence.coordinate != nil { gll = sentence }
        note(.gll, sentence.timeOfDay)
    }

    /// Adds a sentence.
    mutating func add(_ sentence: VTG) {
        if vtg?.speed == nil, vtg == nil || sentence.speed != nil { vtg = sentence }
        tally.note(.vtg)
    }

    /// Adds a sentence.
    mutating func add(_ sentence: GSA) {
        satellites.add(sentence)
        tally.note(.gsa)
    }

    /// Adds a sentence, of this epoch's time.
    mutating func add(_ sentence: GST) {
        errors.add(sentence)
        tally.note(.gst)
    }

    /// Adds a sentence, of this epoch's time.
    mutating func add(_ sentence: GBS) {
        errors.add(sentence)
        tally.note(.gbs)
    }

    private mutating func note(_ part: Part, _ timeOfDay: Int64?) {
        // GLL may have more digits than all others, whose time is the one to tell then.
        if self.timeOfDay == nil || tally.isOnlyGLL { self.timeOfDay = timeOfDay ?? self.timeOfDay }
        tally.note(part)
    }

    /// The position, if one sentence has it and none says that there is none.
    ///
    /// Where several have it they are nearly always equal. In the few receivers where they are
    /// not, RMC's belongs to the same fix as the speed and the course.
    var coordinate: Coordinate? {
        guard gga?.isVoid != true, rmc?.isVoid != true, gns?.isVoid != true, gll?.isVoid != true
        else { return nil }
        return rmc?.coordinate ?? gga?.coordinate ?? gns?.coordinate ?? gll?.coordinate
    }
}
