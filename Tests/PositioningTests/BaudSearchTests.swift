// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Positioning

/// The search for a rate, told what a line brings and what time it is.
@Suite struct BaudSearchTests {
    private let start = ContinuousClock.Instant.now

    private func at(_ seconds: Double) -> ContinuousClock.Instant {
        start.advanced(by: .seconds(seconds))
    }

    @Test func `a sentence ends the search`() {
        var search = BaudSearch(first: nil)
        search.begin(at: start)
        #expect(search.rate == 4800)
        #expect(search.heard(sentenceCount: 0, at: at(1)) == .stay)
        #expect(!search.isFound)
        #expect(search.heard(sentenceCount: 1, at: at(1.1)) == .found)
        #expect(search.isFound)
        #expect(search.deadline == nil)
        #expect(search.heard(sentenceCount: 3, at: at(2)) == .stay)
        #expect(search.rate == 4800)
    }

    @Test func `noise is listened to for two and a half seconds from its first byte`() {
        var search = BaudSearch(first: nil)
        search.begin(at: start)
        #expect(search.deadline == at(5))
        #expect(search.heard(sentenceCount: 0, at: at(4)) == .stay)
        #expect(search.deadline == at(6.5))
        #expect(search.heard(sentenceCount: 0, at: at(6)) == .stay)
        #expect(search.deadline == at(6.5))
        #expect(search.timeOut(at: at(6.5)) == .change)
        #expect(search.rate == 9600)
        search.begin(at: at(7))
        #expect(search.deadline == at(12))
    }

    @Test func `each usual rate has its turn, and then it is over`() {
        var search = BaudSearch(first: nil)
        var rates: [Int] = []
        var step = BaudSearch.Step.change
        while step == .change {
            rates.append(search.rate)
            search.begin(at: start)
            _ = search.heard(sentenceCount: 0, at: start)
            step = search.timeOut(at: at(3))
        }
        #expect(rates == [4800, 9600, 38400, 115_200, 57600, 19200, 230_400, 460_800])
        #expect(step == .fail(reason: "sends no NMEA at any usual baud rate"))
    }

    @Test func `silence at all rates is told as such`() {
        var search = BaudSearch(first: nil)
        for _ in 0..<7 { #expect(search.timeOut(at: start) == .change) }
        #expect(search.timeOut(at: start) == .fail(reason: "sends nothing"))
    }

    @Test func `what was right the last time comes first, and each once`() {
        var search = BaudSearch(first: 57600)
        var rates = [search.rate]
        while search.timeOut(at: start) == .change { rates.append(search.rate) }
        #expect(rates == [57600, 4800, 9600, 38400, 115_200, 19200, 230_400, 460_800])
        #expect(BaudSearch(first: 1).rate == 4800)
    }

    @Test func `a given rate is the only one, and has more time`() {
        var search = BaudSearch(only: 1200)
        search.begin(at: start)
        #expect(search.deadline == at(15))
        #expect(search.heard(sentenceCount: 0, at: at(14)) == .stay)
        #expect(search.deadline == at(29))
        #expect(search.timeOut(at: at(29)) == .fail(reason: "sends no NMEA at 1200 baud"))
        var silent = BaudSearch(only: 1200)
        silent.begin(at: start)
        #expect(silent.timeOut(at: at(15)) == .fail(reason: "sends nothing"))
    }

    @Test func `a receiver that falls into noise is given up, one that is silent is not`() {
        var search = BaudSearch(first: nil)
        search.begin(at: start)
        #expect(search.heard(sentenceCount: 1, at: at(1)) == .found)
        // Silence has no deadline, and does not count as noise when bytes come again.
        #expect(search.deadline == nil)
        #expect(search.heard(sentenceCount: 0, at: at(100)) == .stay)
        #expect(search.heard(sentenceCount: 0, at: at(114)) == .stay)
        #expect(search.heard(sentenceCount: 1, at: at(114.5)) == .stay)
        #expect(search.heard(sentenceCount: 0, at: at(120)) == .stay)
        #expect(search.heard(sentenceCount: 0, at: at(134)) == .stay)
        #expect(
            search.heard(sentenceCount: 0, at: at(135))
                == .fail(reason: "sends no NMEA any more at 4800 baud")
        )
    }
}
