// SPDX-License-Identifier: Apache-2.0

internal import Consent
internal import EventLoop

extension LocationService {
    /// Begins continuous updates of a session, or refuses them.
    ///
    /// The session is started before it is known whose it is, so that a `Stop` that was sent
    /// right behind this call ends what this call began.
    func start(_ session: Session, of client: Client) async throws {
        try session.checkOpen()
        // Who is known, and may not, is refused before anything changes.
        if let subject = client.subject { try refuse(subject, client) }
        session.start()
        let subject = try await client.identified()
        do {
            try refuse(subject, client)
        } catch {
            session.stop()
            throw error
        }
        session.catchUp()
        demandChanged()
    }

    /// Throws what a program that was ruled out is told, after it was told its authorization.
    private func refuse(_ subject: Subject, _ client: Client) throws {
        announceAuthorization(to: client, subject)
        let status = gate.authorization(of: subject).status
        if status == .denied || status == .restricted { throw status.refusal }
    }
}
