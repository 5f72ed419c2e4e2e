// SPDX-License-Identifier: Apache-2.0

private import CGPS
internal import Geo
private import Glibc

/// What one line from gpsd says, read by libgps.
enum GpsdReport: Hashable {
    /// A position.
    case fix(Fix)
    /// The receivers that gpsd has now; there may be none.
    case deviceCount(Int)
    /// A receiver has come or gone.
    case device(isActive: Bool)
    /// Something else, or a position that its receiver does not stand behind.
    case other
}

/// libgps's reader of gpsd's reports, with the structure that it fills.
///
/// libgps goes round for ever on some lines even of JSON: a list of more than four receivers, a
/// path that is too long for it, an object inside an object before the class. So it reads only
/// reports of a position; of the lists of receivers one word is of interest.
///
/// Only fields and masks are used that libgps has had under the same names from 3.22 on.
final class GpsdReportReader {
    private let data: UnsafeMutablePointer<gps_data_t>

    /// Makes a reader, with libgps's structure zeroed as `gps_open` leaves it.
    init() {
        data = .allocate(capacity: 1)
        memset(data, 0, MemoryLayout<gps_data_t>.size)
    }

    deinit {
        data.deallocate()
    }

    /// Reads a report.
    ///
    /// The C function is `gps_unpack`.
    ///
    /// - Parameters:
    ///   - line: One line of JSON, without its end.
    ///   - arrival: The time of a fix of a receiver that does not tell the time.
    /// - Returns: What it says; something else than a report is `other`.
    func read(_ line: ArraySlice<UInt8>, arrivedAt arrival: Timestamp) -> GpsdReport {
        guard JSONSyntax.isObject(line) else { return .other }
        if line.starts(with: Self.deviceListStart) {
            return .deviceCount(line.count(of: Self.deviceClass))
        }
        if line.starts(with: Self.deviceStart) {
            return .device(isActive: line.count(of: Self.activationDate) > 0)
        }
        // One object that begins with its class, which is how gpsd writes them.
        guard line.starts(with: Self.positionStart), line.count(of: Self.classKey) == 1 else {
            return .other
        }
        data.pointee.set = 0
        var text = line.map { CChar(bitPattern: $0) } + [0]
        guard gps_unpack(&text, data) != -1 else { return .other }
        let set = data.pointee.set
        guard set & UInt64(MODE_SET) != 0, set & UInt64(LATLON_SET) != 0 else { return .other }
        return fix(arrivedAt: arrival).map { .fix($0) } ?? .other
    }

    // Words of JSON: in a text their quotes would have backslashes before them.
    private static let classKey = Array(#""class":"#.utf8)
    private static let positionStart = Array(#"{"class":"TPV","#.utf8)
    private static let deviceListStart = Array(#"{"class":"DEVICES","#.utf8)
    private static let deviceStart = Array(#"{"class":"DEVICE","#.utf8)
    private static let deviceClass = Array(#""class":"DEVICE""#.utf8)
    /// A receiver that has gone has the number 0 there, or nothing.
    private static let activationDate = Array(#""activated":""#.utf8)

    private func fix(arrivedAt arrival: Timestamp) -> Fix? {
        let report = data.pointee.fix
        guard report.mode >= MODE_2D,
            let coordinate = Coordinate(latitude: report.latitude, longitude: report.longitude)
        else { return nil }
        let hasTime = data.pointee.set & UInt64(TIME_SET) != 0 && report.time.tv_sec > 0
        var fix = Fix(
            coordinate: coordinate,
            horizontalAccuracy: Self.horizontalAccuracy(report),
            timestamp: hasTime ? Timestamp(report.time) : arrival,
            source: "gpsd",
            isSimulated: report.status == STATUS_SIM
        )
        if report.mode >= MODE_3D {
            fix.altitude = finite(report.altMSL)
            fix.ellipsoidalAltitude = finite(report.altHAE)
            if fix.altitude != nil || fix.ellipsoidalAltitude != nil {
                fix.verticalAccuracy = positive(report.epv).map { $0 * Self.oneSigma }
            }
        }
        fix.speed = finite(report.speed).flatMap { $0 >= 0 ? $0 : nil }
        fix.speedAccuracy = positive(report.eps).map { $0 * Self.oneSigma }
        fix.course = finite(report.track).flatMap { (0...360).contains($0) ? $0 : nil }
            .map { $0 == 360 ? 0 : $0 }
        fix.courseAccuracy = positive(report.epd).map { $0 * Self.oneSigma }
        return fix
    }

    /// gpsd's estimates of one dimension are meant as 95 %, two standard deviations.
    private static let oneSigma = 1 / 1.96

    /// Its horizontal estimate as well: from the radius that holds 95 % of a circular normal
    /// distribution to the one that holds 68 %.
    private static let radius68Of95 = 0.617

    /// What is assumed of a receiver that says nothing, in metres.
    private static let unknownAccuracyMetres = 25.0

    /// The horizontal accuracy in metres: from `eph`, else from `epx` and `epy`.
    ///
    /// Zero is what some receivers say for "not known", and no receiver knows better than a
    /// centimetre.
    private static func horizontalAccuracy(_ report: gps_fix_t) -> Double {
        if let eph = positive(report.eph) { return max(eph * radius68Of95, 0.01) }
        if let epx = positive(report.epx), let epy = positive(report.epy) {
            // Each is two standard deviations of one dimension; the 68 % radius is 1.51 of one.
            let sigma = ((epx * epx + epy * epy) / 2).squareRoot() * oneSigma
            return max(sigma * 1.51, 0.01)
        }
        return unknownAccuracyMetres
    }
}

private func finite(_ number: Double) -> Double? { number.isFinite ? number : nil }

private func positive(_ number: Double) -> Double? { number.isFinite && number > 0 ? number : nil }

extension ArraySlice<UInt8> {
    /// How often a word of JSON is in it.
    fileprivate func count(of word: [UInt8]) -> Int {
        var (count, rest) = (0, self)
        while let index = rest.firstIndex(of: word[0]) {
            rest = rest[index...]
            if rest.starts(with: word) { count += 1 }
            rest = rest.dropFirst()
        }
        return count
    }
}

extension Timestamp {
    fileprivate init(_ time: timespec) {
        self.init(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
    }
}
