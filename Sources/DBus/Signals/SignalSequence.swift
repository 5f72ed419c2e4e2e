// SPDX-License-Identifier: Apache-2.0

internal import EventLoop

/// What becomes of signals that come faster than they are taken.
public enum SignalBuffering: Hashable, Sendable {
    /// None is lost: with so many waiting the connection takes nothing more from the bus, calls
    /// and other signals included, until half of them are taken.
    ///
    /// Answers are taken while something waits for one, so whoever takes the signals may call.
    case holdingBack(Int)
    /// Of more than so many the oldest are dropped: for states, of which only the last matters.
    case newest(Int)
    /// With more than so many the sequence ends with `LimitsExceeded`.
    case failing(Int)
}

/// Signals as they come, for `for try await`.
///
/// It begins to collect them when it is made, and stops when nobody has it any more. It ends when
/// the connection does; it fails if the bus refuses it. Each signal is taken once, by whichever
/// iterator is first.
public struct SignalSequence<Element: Sendable>: AsyncSequence, Sendable {
    let buffer: SignalBuffer<Element>

    /// Takes signals, one by one.
    public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
        let buffer: SignalBuffer<Element>

        /// Waits for the next signal.
        ///
        /// - Returns: The signal; `nil` if there will be none, or the task is cancelled.
        /// - Throws: Why the sequence has failed.
        public func next() async throws -> Element? {
            try await buffer.next()
        }
    }

    /// Makes an iterator.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(buffer: buffer) }
}

/// Signals that have come and have not been taken.
@LoopActor final class SignalBuffer<Element: Sendable> {
    private let buffering: SignalBuffering
    private weak var connection: Connection?
    /// What was taken is `nil` before the head: a slice would keep it.
    private var elements: [Element?] = []
    private var head = 0
    private var takers: [Taker] = []
    /// How it has ended, `nil` while it goes on.
    private var end: Result<Void, any Error>?
    private var isHoldingBack = false
    private var subscription: Subscription?

    /// A task that waits for the next signal.
    @LoopActor private final class Taker {
        var continuation: CheckedContinuation<Element?, any Error>?
        nonisolated init() {}
    }

    init(_ buffering: SignalBuffering, on connection: Connection) {
        // Of fewer than one nothing would ever be taken.
        self.buffering =
            switch buffering {
            case .holdingBack(let limit): .holdingBack(max(limit, 1))
            case .newest(let limit): .newest(max(limit, 1))
            case .failing(let limit): .failing(max(limit, 0))
            }
        self.connection = connection
    }

    isolated deinit {
        finish(.success(()))
    }

    /// Collects from now on what a subscription brings.
    func collect(_ subscription: Subscription) {
        self.subscription = subscription
        subscription.onAnswer { [weak self] error in
            if let error { self?.finish(.failure(error)) }
        }
    }

    func append(_ element: Element) {
        guard end == nil else { return }
        if !takers.isEmpty {
            return takers.removeFirst().continuation.take()?.resume(returning: element) ?? ()
        }
        elements.append(element)
        switch buffering {
        case .holdingBack(let limit):
            if count >= limit, !isHoldingBack {
                isHoldingBack = true
                connection?.pause()
            }
        case .newest(let limit):
            if count > limit { _ = popFirst() }
        case .failing(let limit):
            guard count > limit else { return }
            elements.removeLast()
            finish(
                .failure(
                    DBusError(
                        .limitsExceeded,
                        "more than \(limit) signals have come that were not taken"
                    )
                )
            )
        }
    }

    /// Ends it: what has come can still be taken, and then there is nothing more.
    func finish(_ result: Result<Void, any Error>) {
        guard end == nil else { return }
        end = result
        subscription.take()?.cancel()
        letGo()
        for taker in exchange(&takers, with: []) {
            taker.continuation.take()?.resume(with: result.map { nil })
        }
    }

    private var count: Int { elements.count - head }

    private func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        let element = elements[head].take()
        head += 1
        if head == elements.count {
            elements.removeAll(keepingCapacity: true)
            head = 0
        } else if head >= 32, head > elements.count / 2 {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }

    private func letGo() {
        guard isHoldingBack else { return }
        isHoldingBack = false
        connection?.resume()
    }

    func next() async throws -> Element? {
        let taker = Taker()
        return try await withTaskCancellationHandler { @LoopActor in
            try await withCheckedThrowingContinuation { continuation in
                if Task.isCancelled {
                    continuation.resume(returning: nil)
                } else if let element = popFirst() {
                    if case .holdingBack(let limit) = buffering, count <= limit / 2 { letGo() }
                    continuation.resume(returning: element)
                } else if let end {
                    continuation.resume(with: end.map { nil })
                } else {
                    taker.continuation = continuation
                    takers.append(taker)
                }
            }
        } onCancel: {
            // By then the task may have its signal, and another one may wait.
            Task { @LoopActor in
                takers.removeAll { $0 === taker }
                taker.continuation.take()?.resume(returning: nil)
            }
        }
    }
}

extension Connection {
    /// Asks the bus for signals, to be taken one by one.
    ///
    /// ```swift
    /// for try await signal in try connection.signals(matching: SignalMatch(member: "Rung")) {
    ///     print(signal.sender, try signal.values())
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - match: Which signals.
    ///   - buffering: What becomes of those that come too fast.
    /// - Returns: The signals from now on.
    /// - Throws: `Disconnected` on a closed connection.
    public func signals(
        matching match: SignalMatch,
        buffering: SignalBuffering = .holdingBack(256)
    ) throws(DBusError) -> SignalSequence<ReceivedSignal> {
        try sequence(of: match, buffering) { message in
            ReceivedSignal(Message(retaining: message.pointer))
        }
    }

    /// Asks for one signal of an object, to be taken one by one, with its arguments in their types.
    ///
    /// A signal with other arguments than were declared is passed over: its sender is at fault.
    ///
    /// - Parameters:
    ///   - signal: Which signal.
    ///   - path: The object.
    ///   - sender: The connection that has the object, by its unique or a well-known name.
    ///   - buffering: What becomes of those that come too fast.
    /// - Returns: The signals' arguments from now on.
    /// - Throws: `Disconnected` on a closed connection.
    public func signals<each Argument>(
        _ signal: Signal<repeat each Argument>,
        from path: ObjectPath,
        of sender: BusName,
        buffering: SignalBuffering = .holdingBack(256)
    ) throws(DBusError) -> SignalSequence<(repeat each Argument)> {
        let match = SignalMatch(
            sender: sender,
            path: path,
            interface: signal.interface,
            member: signal.name
        )
        return try sequence(of: match, buffering) { message in
            try? message.arguments(repeat (each Argument).self)
        }
    }

    private func sequence<Element>(
        of match: SignalMatch,
        _ buffering: SignalBuffering,
        _ read: @escaping @LoopActor (borrowing Message) -> Element?
    ) throws(DBusError) -> SignalSequence<Element> {
        let buffer = SignalBuffer<Element>(buffering, on: self)
        let subscription = try subscribe(
            to: match,
            onEnd: { [weak buffer] in buffer?.finish(.success(())) },
            { [weak buffer] message in
                if let buffer, let element = read(message) { buffer.append(element) }
            }
        )
        buffer.collect(subscription)
        return SignalSequence(buffer: buffer)
    }
}
