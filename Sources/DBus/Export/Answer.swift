// SPDX-License-Identifier: Apache-2.0

internal import EventLoop

/// The answer that a call waits for, given once by its handler.
@LoopActor final class Answer {
    private let call: Call

    /// The connection's order of handlers.
    let order: HandlerOrder

    init(to call: Call, over connection: Connection) {
        self.call = call
        order = connection.handlers
    }

    /// Answers with results.
    func succeed<each Output: DBusEncodable>(_ results: repeat each Output) {
        send { reply throws(DBusError) in try reply.append(repeat each results) }
    }

    /// Answers with results of dynamic types, which must be those that were announced.
    func succeed(values: [Value], as types: String) {
        send { reply throws(DBusError) in
            let found = values.map(\.signature.string).joined()
            guard found == types else {
                throw DBusError(
                    .failed,
                    "the method has returned “\(found)” where “\(types)” was announced"
                )
            }
            try reply.append(contentsOf: values)
        }
    }

    private func send(_ write: (inout Message) throws(DBusError) -> Void) {
        guard call.expectsReply, let connection = call.connection else { return }
        do {
            var reply = try Message.methodReturn(to: call)
            try write(&reply)
            try connection.send(reply)
        } catch {
            fail(error)
        }
    }

    /// Answers with an error.
    func fail(_ error: any Error) {
        guard call.expectsReply, let connection = call.connection else { return }
        let original = error as? DBusError ?? DBusError(.failed, "\(error)")
        do {
            try connection.send(Message.error(original, to: call))
        } catch {
            // Its details may have no form on the bus, or be too much for it. Without them it fails
            // only without memory or connection, and then nothing can be sent about that.
            let plain = DBusError(original.name, original.message)
            try? connection.send(Message.error(plain, to: call))
        }
    }
}
