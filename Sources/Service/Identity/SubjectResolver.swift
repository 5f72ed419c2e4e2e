// SPDX-License-Identifier: Apache-2.0

internal import DBus
internal import EventLoop

/// Finds out which program is behind a connection.
///
/// A protocol, since a daemon that is not root needs the help of another process to see the
/// executables of other users' programs.
@LoopActor protocol SubjectResolver {
    /// What can be proved about the program behind a connection.
    ///
    /// - Parameter credentials: What the bus knows of the connection.
    /// - Returns: All that was found; what could not be looked at is left out.
    func identity(of credentials: Credentials) async -> ProgramIdentity
}

/// Looks at `/proc` itself: enough for programs of its own user, and for all if it is root.
struct LocalSubjectResolver: SubjectResolver {
    func identity(of credentials: Credentials) async -> ProgramIdentity {
        ProgramIdentity(
            userID: credentials.userID,
            securityLabel: credentials.securityLabel,
            facts: credentials.processID.flatMap { ProcessFacts(processID: $0) } ?? ProcessFacts()
        )
    }
}
