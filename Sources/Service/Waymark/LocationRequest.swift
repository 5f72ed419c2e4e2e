// SPDX-License-Identifier: Apache-2.0

internal import DBus
internal import EventLoop
internal import Interfaces

/// The arguments of `GetLocation`, checked.
struct LocationRequest {
    let accuracy: DesiredAccuracy
    let timeout: Duration

    /// How long it waits if the caller leaves that open: less than a D-Bus call's 25 seconds.
    static let defaultTimeout = Duration.seconds(20)
    /// How long a caller may let it wait.
    static let longestTimeout = Duration.seconds(600)

    init(accuracy: String, timeout milliseconds: UInt32) throws(DBusError) {
        self.accuracy = try DesiredAccuracy(word: accuracy)
        timeout = milliseconds == 0 ? Self.defaultTimeout : .milliseconds(milliseconds)
        guard timeout <= Self.longestTimeout else {
            throw DBusError(
                WireError.invalidArguments,
                "timeout_ms \(milliseconds) is too long: 600000 at the most, 0 for 20 seconds"
            )
        }
    }

    @LoopActor func run(
        _ session: Session,
        _ service: LocationService
    ) async throws -> LocationDictionary {
        try await session.oneLocation(accuracy, timeout: timeout) { client, subject in
            service.announceAuthorization(to: client, subject)
        }
    }
}

extension DesiredAccuracy {
    /// Reads a word, or throws what the allowed ones are.
    init(word: String) throws(DBusError) {
        guard let known = DesiredAccuracy(rawValue: word) else {
            throw DBusError(
                WireError.invalidArguments,
                "accuracy “\(word)” is none of "
                    + DesiredAccuracy.allCases.map(\.rawValue).joined(separator: ", ")
            )
        }
        self = known
    }
}
