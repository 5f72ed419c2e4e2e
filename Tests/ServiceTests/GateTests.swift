// SPDX-License-Identifier: Apache-2.0

import Consent
import EventLoop
import Geo
import Interfaces
import TestKit
import Testing

@testable import Service

@Suite @LoopActor struct GateTests {
    private let clock = ManualTimekeeper()
    private let program = Subject(userID: 1000, kind: .exe, id: "/usr/bin/map")

    private func fix(_ latitude: Double, accuracy: Double = 5, second: Int64 = 0) throws -> Fix {
        Fix(
            coordinate: try #require(Coordinate(latitude: latitude, longitude: 16.37)),
            horizontalAccuracy: accuracy,
            timestamp: Timestamp(microseconds: 1_750_000_000_000_000 + second * 1_000_000),
            source: "nmea"
        )
    }

    private func gate(_ authorization: Authorization?) -> Gate {
        var rules = AdministratorRules()
        rules.rules[.one(program.kind, id: program.id)] = authorization.map { .init($0) }
        return Gate(rules: rules, clock: clock)
    }

    @Test(arguments: [AuthorizationStatus.notDetermined, .denied, .restricted])
    func `nothing passes to a program that may not know`(status: AuthorizationStatus) throws {
        let gate = gate(status == .notDetermined ? nil : Authorization(status))
        #expect(gate.pass(try fix(48), to: program, desired: .best) == nil)
        #expect(gate.pass(try fix(48), to: program, desired: .reduced) == nil)
    }

    @Test(arguments: [AuthorizationStatus.whenInUse, .always])
    func `a fix passes as it is to a program that may know`(status: AuthorizationStatus) throws {
        let gate = gate(Authorization(status))
        #expect(gate.pass(try fix(48), to: program, desired: .best) == (try fix(48)))
        #expect(gate.pass(try fix(48), to: program, desired: .reduced) == (try fix(48).reduced))
    }

    @Test func `another user's program is another subject`() throws {
        let rules = AdministratorRules([
            .one(.exe, id: program.id): .init(Authorization(.always), users: [1000])
        ])
        let gate = Gate(rules: rules, clock: clock)
        let other = Subject(userID: 1001, kind: .exe, id: program.id)
        #expect(gate.pass(try fix(48), to: program, desired: .best) != nil)
        #expect(gate.pass(try fix(48), to: other, desired: .best) == nil)
    }

    @Test func `a reduced fix stands for a quarter of an hour wherever the device goes`() throws {
        let gate = gate(Authorization(.always, accuracy: .reduced))
        let first = gate.pass(try fix(48), to: program, desired: .best)
        #expect(first == (try fix(48).reduced))
        clock.advance(by: .seconds(899))
        #expect(gate.pass(try fix(49), to: program, desired: .bestForNavigation) == first)
        // Neither leaving nor coming back makes a new one.
        gate.forgetOldFixes()
        #expect(gate.pass(try fix(49), to: program, desired: .best) == first)
        clock.advance(by: .seconds(1))
        #expect(gate.pass(try fix(49), to: program, desired: .best) == (try fix(49).reduced))
    }

    @Test func `a session's filter holds back what was not asked for`() throws {
        var filter = SessionFilter()
        var options = SessionOptions()
        options.distanceFilterMetres = 100
        let now = clock.now
        #expect(filter.accepts(try fix(48), at: now, options))
        // 0.00045° of latitude is 50 m, 0.0009° is 100 m.
        #expect(!filter.accepts(try fix(48.00045, second: 1), at: now, options))
        #expect(filter.accepts(try fix(48.00045, accuracy: 4, second: 2), at: now, options))
        #expect(!filter.accepts(try fix(48.0009, accuracy: 4, second: 3), at: now, options))
        #expect(filter.accepts(try fix(48.0014, accuracy: 4, second: 4), at: now, options))
        options.minimumInterval = .seconds(10)
        let soon = now.advanced(by: .milliseconds(9_999))
        #expect(!filter.accepts(try fix(49, second: 5), at: soon, options))
        let later = now.advanced(by: .seconds(10))
        #expect(filter.accepts(try fix(49, second: 6), at: later, options))
        // The same fix is no news.
        #expect(
            !filter.accepts(try fix(49, second: 6), at: later.advanced(by: .seconds(60)), options)
        )
    }
}
