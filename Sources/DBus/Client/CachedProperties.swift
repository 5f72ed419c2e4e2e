// SPDX-License-Identifier: Apache-2.0

public import EventLoop

/// The properties of an object's interface, kept as the object tells their changes.
///
/// It follows the name that the object was addressed by: while nobody owns it there are no values,
/// and a new owner is asked for its own.
@LoopActor public final class CachedProperties {
    /// The object, seen through the interface of the properties.
    public let object: Proxy

    /// The values by name, those that are known now.
    public private(set) var values: [String: Value] = [:]

    /// Whether the object is there and has told its values.
    public private(set) var isAvailable = false

    /// Called after values have changed, with the names of those that have; with all names when
    /// the object comes or goes.
    public var onChange: (@LoopActor (Set<String>) -> Void)?

    private var owner: NameWatch?
    private var subscription: Subscription?
    /// Tells answers of an owner that has gone from those of the present one.
    private var generation = 0
    private var firstLoad: CheckedContinuation<Void, any Error>?
    private var firstOutcome: Result<Void, any Error>?

    fileprivate init(_ object: Proxy) {
        self.object = object
    }

    /// The value of a property; `nil` if there is none, or it is not known now.
    public subscript(name: MemberName) -> Value? { values[name.string] }

    /// The value of a property in its type.
    ///
    /// - Parameters:
    ///   - name: The property.
    ///   - type: Its type.
    /// - Returns: The value; `nil` if there is none, or it is not known now.
    /// - Throws: `InvalidArgs` if the property is of another type.
    public func value<Content: DBusDecodable>(
        of name: MemberName,
        as type: Content.Type = Content.self
    ) throws(DBusError) -> Content? {
        guard let value = self[name] else { return nil }
        return try value.decoded(as: type)
    }

    /// Stops following the object; the values stay what they were.
    public func cancel() {
        generation += 1
        owner.take()?.cancel()
        subscription.take()?.cancel()
        _ = onChange.take()
    }

    // MARK: Following

    fileprivate func begin() async throws {
        let connection = object.connection
        let match = SignalMatch(
            sender: object.destination,
            path: object.path,
            interface: StandardInterfaces.properties,
            member: StandardInterfaces.propertiesChanged.name,
            arguments: [0: object.interface.string]
        )
        subscription = try connection.subscribe(
            to: match,
            onEnd: { [weak self] in self?.loaded(.failure(DBusError.closed)) },
            { [weak self] message in
                let change = try? message.arguments(
                    String.self,
                    [String: Value].self,
                    [String].self
                )
                if let change { self?.apply(change.1, invalidated: change.2) }
            }
        )
        owner = try connection.watchName(object.destination) { [weak self] owner in
            self?.ownerChanged(to: owner)
        }
        try await withTaskCancellationHandler { @LoopActor in
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                if let firstOutcome { return continuation.resume(with: firstOutcome) }
                firstLoad = continuation
            }
        } onCancel: {
            Task { @LoopActor in loaded(.failure(CancellationError())) }
        }
    }

    private func loaded(_ outcome: Result<Void, any Error>) {
        if firstOutcome == nil { firstOutcome = outcome }
        firstLoad.take()?.resume(with: outcome)
    }

    private func ownerChanged(to owner: BusName?) {
        generation += 1
        guard let owner else {
            clear()
            return activate()
        }
        let generation = generation
        ask("GetAll", object.interface.string, of: owner) { [weak self] outcome in
            guard let self, generation == self.generation else { return }
            do {
                let old = Set(values.keys)
                values = try outcome.get().results([String: Value].self)
                isAvailable = true
                loaded(.success(()))
                onChange?(old.union(values.keys))
            } catch {
                clear()
                loaded(.failure(error))
            }
        }
    }

    /// Starts the service that is to have the object, if that was not there from the beginning.
    private func activate() {
        guard firstOutcome == nil else { return }
        let connection = object.connection
        LoopActor.task { [weak self, name = object.destination] in
            do {
                // Its owner is told by the watch.
                try await connection.startService(name)
            } catch {
                self?.loaded(.failure(error))
            }
        }
    }

    private func clear() {
        isAvailable = false
        guard !values.isEmpty else { return }
        let names = Set(values.keys)
        values = [:]
        onChange?(names)
    }

    private func apply(_ changed: [String: Value], invalidated: [String]) {
        guard isAvailable else { return }
        values.merge(changed) { $1 }
        for name in invalidated { values[name] = nil }
        if !changed.isEmpty { onChange?(Set(changed.keys)) }
        guard let owner = owner?.owner else { return }
        let generation = generation
        for name in invalidated {
            ask("Get", object.interface.string, name, of: owner) { [weak self] outcome in
                guard let self, generation == self.generation else { return }
                // Without an answer the old value is gone all the same.
                values[name] = try? outcome.get().results(Value.self)
                onChange?([name])
            }
        }
    }

    private func ask<each Input: DBusEncodable>(
        _ member: MemberName,
        _ arguments: repeat each Input,
        of owner: BusName,
        then handler: @escaping @LoopActor (PendingCall.Outcome) -> Void
    ) {
        do {
            var message = try Message.call(
                member,
                on: StandardInterfaces.properties,
                at: object.path,
                of: owner
            )
            try message.append(repeat each arguments)
            try object.connection.start(message, handler)
        } catch {
            handler(.failure(error))
        }
    }
}

extension Proxy {
    /// Fetches all properties and keeps them as the object tells their changes.
    ///
    /// A service that is not running is started, this once.
    ///
    /// - Returns: The properties, with their values.
    /// - Throws: What the object or the bus answers, such as `ServiceUnknown`.
    public func cachedProperties() async throws -> CachedProperties {
        let properties = CachedProperties(self)
        do {
            try await properties.begin()
        } catch {
            properties.cancel()
            throw error
        }
        return properties
    }
}
