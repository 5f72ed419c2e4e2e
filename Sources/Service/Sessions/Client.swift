// SPDX-License-Identifier: Apache-2.0

internal import Consent
internal import DBus
internal import EventLoop

/// A connection that asks for locations, from its first request to its end.
@LoopActor final class Client {
    /// Its unique name.
    let name: BusName

    /// Which program it is, once that is known, under the rules as they are.
    private(set) var subject: Subject?

    /// The sessions of the connection, the default one of the main interface included.
    private(set) var sessions: [Session] = []

    /// What is known about the program, once it is.
    private var identity: ProgramIdentity?

    /// What it has been told that it may know.
    var announced: Authorization?

    private let identification: Task<ProgramIdentity, any Error>
    private let rules: @LoopActor () -> AdministratorRules
    private var watch: PeerWatch?

    /// Begins to find out who it is.
    ///
    /// - Parameters:
    ///   - name: The connection's unique name.
    ///   - watch: Held until the end.
    ///   - rules: The decisions as they are.
    ///   - identify: Finds out which program it is.
    init(
        _ name: BusName,
        watch: PeerWatch,
        rules: @escaping @LoopActor () -> AdministratorRules,
        identify: @escaping @LoopActor () async throws -> ProgramIdentity
    ) {
        self.name = name
        self.watch = watch
        self.rules = rules
        identification = LoopActor.task { try await identify() }
    }

    /// Waits until it is known which program it is.
    ///
    /// - Returns: The subject under the rules as they are now.
    /// - Throws: If the connection has gone.
    @discardableResult
    func identified() async throws -> Subject {
        let identity = try await identification.value
        self.identity = identity
        let subject = identity.subject(under: rules())
        self.subject = subject
        return subject
    }

    /// The rules have changed, and with them perhaps which subject this is.
    func rulesChanged() {
        subject = identity?.subject(under: rules())
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
