// SPDX-License-Identifier: Apache-2.0

internal import Consent
internal import DBus
internal import EventLoop

/// The connections that ask for locations.
@LoopActor final class ClientRegistry {
    private let connection: Connection
    private let resolver: any SubjectResolver
    private let rules: @LoopActor () -> AdministratorRules
    private var clients: [BusName: Client] = [:]
    private var identifications: [BusName: Task<ProgramIdentity, any Error>] = [:]

    /// Called when a connection has gone, after its sessions were ended.
    var onDeparture: (@LoopActor (Client) -> Void)?

    /// - Parameters:
    ///   - connection: The bus that the clients are on.
    ///   - resolver: Finds out which programs they are.
    ///   - rules: The administrator's decisions as they are.
    init(
        connection: Connection,
        resolver: any SubjectResolver,
        rules: @escaping @LoopActor () -> AdministratorRules
    ) {
        self.connection = connection
        self.resolver = resolver
        self.rules = rules
    }

    /// All clients, in no particular order.
    var all: some Collection<Client> { clients.values }

    /// The client that a call comes from; the first call makes one of its connection.
    func client(for call: Call) throws(DBusError) -> Client {
        let name = try Self.sender(of: call)
        if let client = clients[name] { return client }
        let watch = try connection.watchPeer(name) { [weak self] in self?.depart(name) }
        let client = Client(name, watch: watch, rules: rules) { [self] in
            try await identify(name)
        }
        clients[name] = client
        return client
    }

    /// The client that a call comes from, if its connection is one.
    func existingClient(for call: Call) -> Client? {
        call.sender.flatMap { clients[$0] }
    }

    /// Which program a call comes from, without making a client of its connection.
    func subject(of call: Call) async throws -> Subject {
        let name = try Self.sender(of: call)
        if let client = clients[name] { return try await client.identified() }
        return try await identify(name).subject(under: rules())
    }

    /// Finds out which program a connection is; of calls that come together the first one asks.
    private func identify(_ name: BusName) async throws -> ProgramIdentity {
        if let task = identifications[name] { return try await task.value }
        let task = LoopActor.task { [self] in
            defer { identifications[name] = nil }
            return await resolver.identity(of: try await connection.credentials(of: name))
        }
        identifications[name] = task
        return try await task.value
    }

    private func depart(_ name: BusName) {
        guard let client = clients.removeValue(forKey: name) else { return }
        client.end()
        onDeparture?(client)
    }

    private static func sender(of call: Call) throws(DBusError) -> BusName {
        if let sender = call.sender { return sender }
        throw DBusError(.accessDenied, "callers need a bus that names them")
    }
}
