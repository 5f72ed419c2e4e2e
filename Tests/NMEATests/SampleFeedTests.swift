// SPDX-License-Identifier: Apache-2.0

import Foundation
import Geo
import NMEA
import Testing

/// What phones, modems and receivers really send.
@Suite(
    .enabled(
        if: SharedData.exists(SharedData.feeds),
        "skipped: no sample feeds; set WAYMARK_SHARED to the folder that has data/feeds"
    )
)
struct SampleFeedTests {
    @Test(arguments: [
        ("android-gpsd-forwarder", 1), ("android-gpsdrelay-generated", 2), ("gps-share-sample", 2),
        ("modemmanager-gps-nmea-string", 1), ("pinephone-eg25g-firstfix", 2),
        ("pinephone-eg25g-nofix", 0), ("quectel-ec25", 4), ("quectel-l70", 3),
        ("st-teseo-double-dollar", 1), ("ublox-zed-f9p", 2),
    ])
    func `a feed gives its fixes`(row: (String, Int)) throws {
        let feed = SharedData.feeds.appendingPathComponent(row.0 + ".nmea")
        let all = fixes(try SharedData.bytes(feed))
        #expect(all.count == row.1, "\(row.0)")
    }

    @Test func `a relay's tiny speed is unknown and its broken latitude refused`() throws {
        let feed = SharedData.feeds.appendingPathComponent("android-gpsdrelay-generated.nmea")
        let all = fixes(try SharedData.bytes(feed))
        #expect(all.map(\.speed).map { $0 == nil } == [false, true])
        #expect(all.allSatisfy { $0.coordinate.latitude > 52 })
    }
}
