// SPDX-License-Identifier: Apache-2.0

internal import Geo

/// What the GSA of one epoch say together, one of each satellite system.
struct SatelliteUse {
    /// How many satellites of all systems are in use, `nil` if no GSA has been there.
    private(set) var count: Int?

    /// The better of the modes: one system without a fix takes nothing from another's.
    private(set) var mode: Fix.Mode?

    private(set) var pdop: Double?
    private(set) var hdop: Double?
    private(set) var vdop: Double?

    /// Adds a sentence.
    ///
    /// All have the dilutions of the whole fix, or a system without satellites prints 99.99:
    /// the first that can be meant count.
    mutating func add(_ sentence: GSA) {
        count = (count ?? 0) + sentence.satellites
        if mode != .threeDimensional { mode = sentence.mode ?? mode }
        guard !sentence.hasNoFix else { return }
        pdop = pdop ?? ErrorModel.known(sentence.pdop)
        hdop = hdop ?? ErrorModel.known(sentence.hdop)
        vdop = vdop ?? ErrorModel.known(sentence.vdop)
    }
}

/// The errors that a receiver estimates of its position, in metres and more than 0.
struct PositionErrors {
    private(set) var horizontal: Double?
    private(set) var vertical: Double?
    private var isOfGST = false

    /// Adds a GST, which goes before a GBS.
    mutating func add(_ sentence: GST) {
        guard !isOfGST else { return }
        isOfGST = sentence.latitudeError != nil
        horizontal = Self.radius(sentence.latitudeError, sentence.longitudeError) ?? horizontal
        vertical = sentence.altitudeError ?? vertical
    }

    /// Adds a GBS.
    mutating func add(_ sentence: GBS) {
        horizontal = horizontal ?? Self.radius(sentence.latitudeError, sentence.longitudeError)
        vertical = vertical ?? sentence.altitudeError
    }

    /// The radius in which two errors at right angles leave the position two times of three.
    private static func radius(_ north: Double?, _ east: Double?) -> Double? {
        guard let north, let east else { return nil }
        return (north * north + east * east).squareRoot()
    }
}
