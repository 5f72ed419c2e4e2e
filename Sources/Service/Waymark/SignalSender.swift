// SPDX-License-Identifier: Apache-2.0

internal import Consent
internal import DBus
internal import EventLoop
internal import Interfaces

/// Sends the three signals of a session to its owner, and to nobody else.
@LoopActor struct SignalSender {
    let broadcaster: LocationBroadcaster
    let signals: LocationSignals
    let path: ObjectPath
    let owner: BusName

    // What cannot be sent has no receiver any more: the connection is gone.

    func locationUpdated(_ location: LocationDictionary) {
        try? broadcaster.send(location, signals.updated, from: path, to: owner)
    }

    func locationFailed(_ failure: LocationFailure, _ message: String) {
        try? broadcaster.connection.emit(
            signals.failed,
            from: path,
            to: owner,
            failure.rawValue,
            message
        )
    }

    func authorizationChanged(_ authorization: Authorization) {
        try? broadcaster.connection.emit(
            signals.authorizationChanged,
            from: path,
            to: owner,
            authorization.status.rawValue,
            ["accuracy": .string(authorization.accuracy.rawValue)]
        )
    }
}

/// Sends one location to many clients: it is written into a message once, and copied for each.
@LoopActor final class LocationBroadcaster {
    let connection: Connection
    private var last: (location: LocationDictionary, template: MessageBox)?

    init(_ connection: Connection) {
        self.connection = connection
    }

    func send(
        _ location: LocationDictionary,
        _ signal: Signal<LocationDictionary>,
        from path: ObjectPath,
        to owner: BusName
    ) throws(DBusError) {
        if path == Waymark.path, let last, last.location == location {
            try connection.send(last.template.message.copy(to: owner))
            return
        }
        var message = try Message.signal(signal.name, of: signal.interface, from: path, to: owner)
        try message.append(location)
        // libdbus locks a message when it is sent, and a locked one can still be copied.
        try connection.send(message)
        // A session's path is its own: only what comes from the main object has many receivers.
        if path == Waymark.path { last = (location, MessageBox(message)) }
    }

    private final class MessageBox {
        let message: Message

        init(_ message: consuming Message) {
            self.message = message
        }
    }
}

/// The main interface as a session's outlet.
@LoopActor struct MainOutlet: SessionOutlet {
    let signals: SignalSender

    func locationUpdated(_ location: LocationDictionary) { signals.locationUpdated(location) }

    func locationFailed(_ failure: LocationFailure, _ message: String) {
        signals.locationFailed(failure, message)
    }

    func authorizationChanged(_ authorization: Authorization) {
        signals.authorizationChanged(authorization)
    }

    /// The default session has no properties of its own.
    func stateChanged() {}

    /// The main object is there for others.
    func closed() {}
}
