// SPDX-License-Identifier: Apache-2.0

internal import EventLoop

/// The answer that a call waits for, given once by its handler.
@LoopActor final class Answer {
    private let call: Call

    /// The connection's order of handlers.
    let order: HandlerOrder
    private weak var connection: Connection?

    init(to call: Call, over connection: Connection) {
        self.call = call
        self.connection = connection
        order = connection.handlers
    }

    /// Answers with results.
    func succeed<each Output: DBusEncodable>(_ results: repeat each Output) {
        guard let connection, call.expectsReply else { return }
        do {
            var reply = try Message.methodReturn(to: call)
            try reply.append(repeat each results)
            try connection.send(reply)
        } catch {
            fail(error)
        }
    }

    /// Answers with an error.
    func fail(_ error: any Error) {
        guard let connection, call.expectsReply else { return }
        let error = error as? DBusError ?? DBusError(.failed, "\(error)")
        // It fails only without memory or connection, and then nothing can be sent about that.
        try? connection.send(Message.error(error, to: call))
    }
}
