// SPDX-License-Identifier: Apache-2.0

internal import EventLoop

/// Who is behind a connection, as the bus found out from the kernel when it connected
/// (`GetConnectionCredentials` of the specification).
public struct Credentials: Hashable, Sendable {
    /// The user id.
    public var userID: UInt32

    /// The ids of all groups, in rising order; `nil` where the bus does not tell.
    public var groupIDs: [UInt32]?

    /// The process id, where the kernel told; it may be another process's by now, unless
    /// ``processDescriptor`` is there and that process lives.
    public var processID: UInt32?

    /// A descriptor of the process (a pidfd), which is never another one's; `nil` if the bus is a
    /// `dbus-daemon` older than 1.16.
    public var processDescriptor: UnixDescriptor?

    /// The label of the security module, such as a profile of AppArmor.
    public var securityLabel: String?
}

/// The answer of `GetConnectionCredentials`, an `a{sv}` of which only what is known is read: newer
/// buses add entries.
package struct CredentialEntries: DBusDecodable {
    package let credentials: Credentials

    package static var signature: Signature { [String: Value].signature }

    package init(from reader: inout MessageReader) throws(DBusError) {
        var userID: UInt32?
        var credentials = Credentials(userID: 0)
        try reader.readArray { reader throws(DBusError) in
            try reader.readEntry { entry throws(DBusError) in
                let key: String = try entry.next()
                try entry.readVariant { content, type throws(DBusError) in
                    switch (key, type.string) {
                    case ("UnixUserID", "u"): userID = try content.next()
                    case ("UnixGroupIDs", "au"): credentials.groupIDs = try content.next()
                    case ("ProcessID", "u"): credentials.processID = try content.next()
                    case ("ProcessFD", "h"): credentials.processDescriptor = try content.next()
                    case ("LinuxSecurityLabel", "ay"):
                        let label: [UInt8] = try content.next()
                        // It ends with a NUL, as the kernel gives it.
                        credentials.securityLabel = String(
                            decoding: label.prefix { $0 != 0 },
                            as: UTF8.self
                        )
                    default: break
                    }
                }
            }
        }
        guard let userID else {
            throw DBusError(.failed, "the bus does not know the caller's user")
        }
        credentials.userID = userID
        self.credentials = credentials
    }
}

extension Connection {
    /// Asks the bus who is behind a connection.
    ///
    /// - Parameter peer: The connection's unique name.
    /// - Returns: Its credentials at the time when it connected.
    /// - Throws: `NameHasNoOwner` if it has gone.
    public func credentials(of peer: BusName) async throws -> Credentials {
        let reply = try await driver("GetConnectionCredentials", peer.string)
        return try reply.results(CredentialEntries.self).credentials
    }
}
