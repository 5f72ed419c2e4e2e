// SPDX-License-Identifier: Apache-2.0

internal import Consent
internal import DBus
internal import EventLoop

/// A connection that asks for locations, from its first request to its end.
@LoopActor final class Client {
    /// Its unique name.
    let name: BusName

    /// Which program it is, once that is known.
    private(set) var subject: Subject?

    /// The sessions of the connection, the default one of the main interface included.
    private(set) var sessions: [Session] = []

    /// What it has been told that it may know.
    var announced: Authorization?

    private let identification: Task<Subject, any Error>
    private var watch: PeerWatch?

    /// Begins to find out who it is.
    init(
        _ name: BusName,
        watch: PeerWatch,
        identify: @escaping @LoopActor () async throws -> Subject
    ) {
        self.name = name
        self.watch = watch
        identification = LoopActor.task { try await identify() }
    }

    /// Waits until it is known which program it is.
    ///
    /// - Throws: If the connection has gone.
    func identified() async throws -> Subject {
        let found = try await identification.value
        subject = found
        return found
    }

    func add(_ session: Session) {
        sessions.append(session)
    }

    func remove(_ session: Session) {
        sessions.removeAll { $0 === session }
    }

    /// Ends all that it has, when the connection has gone.
    func end() {
        watch?.cancel()
        watch = nil
        identification.cancel()
        for session in sessions { session.close() }
        sessions = []
    }
}
