// SPDX-License-Identifier: Apache-2.0

internal import Geo

extension Epoch {
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
        let gns = gns?.coordinate == nil ? nil : gns
        let hdop = ErrorModel.known(gga?.hdop) ?? ErrorModel.known(gns?.hdop) ?? satellites.hdop
        let model = ErrorModel(
            quality: quality ?? .autonomous,
            hdop: hdop ?? gga?.hdop ?? gns?.hdop,
            vdop: satellites.vdop,
            errors: errors
        )
        var fix = Fix(
            coordinate: coordinate,
            horizontalAccuracy: model.horizontalAccuracy,
            timestamp: instant ?? arrivedAt,
            source: source,
            isSimulated: isSimulated
        )
        if let altitude = gga?.altitude ?? gns?.altitude {
            let separation = gga?.altitude == nil ? gns?.geoidSeparation : gga?.geoidSeparation
            fix.altitude = altitude
            fix.ellipsoidalAltitude = separation.map { altitude + $0 }
            fix.verticalAccuracy = model.verticalAccuracy
        }
        fix.speed = rmc?.speed ?? vtg?.speed
        fix.course = rmc?.course ?? vtg?.course
        // GNS counts beyond the twelve at which many receivers' GGA end.
        fix.satellitesUsed = gns?.satellites ?? gga?.satellites ?? satellites.count
        fix.hdop = hdop
        fix.vdop = satellites.vdop
        fix.pdop = satellites.pdop
        fix.mode = satellites.mode
        return fix
    }

    private var isSimulated: Bool {
        gga?.quality == .simulated || rmc?.quality == .simulated || gns?.quality == .simulated
            || gll?.quality == .simulated
    }

    /// The poorest of the qualities that were told.
    ///
    /// A position of no satellite at all is remembered or guessed, whatever its quality says.
    private var quality: Quality? {
        if gga?.satellites == 0 || gns?.satellites == 0 { return .estimated }
        var result = gga?.quality
        for quality in [rmc?.quality, gns?.quality, gll?.quality] {
            guard let quality else { continue }
            result = result?.poorer(quality) ?? quality
        }
        return result
    }
}
