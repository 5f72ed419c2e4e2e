// SPDX-License-Identifier: Apache-2.0

internal import EventLoop

/// Keeps a connection to a server while it is wanted: made, watched, and made again with growing
/// pauses when it ends.
///
/// A pause grows until a connection on which bytes come has stayed for some seconds: a server that
/// accepts and hangs up at once is no better than none, and one that greets first is only asked a
/// little sooner, and complained of no oftener. There is never more than one connection.
@LoopActor final class StreamClient {
    /// What its owner is told.
    enum Event {
        /// There is a connection: a request can be sent.
        case opened
        /// Bytes have come.
        case bytes(ArraySlice<UInt8>)
        /// There is no connection; the reason is a clause. Told for each attempt that fails.
        case lost(reason: String)
    }

    private let source: String
    private let endpoint: StreamEndpoint
    private let clock: any Timekeeper
    private let log: SourceLog
    private var handler: (@LoopActor (Event) -> Void)?
    private var connection: StreamConnection?
    private var retry: Timer?
    private var backOff = BackOff()
    private var hasToldLoss = false

    /// Whether a loss has been told since there was a connection that stayed.
    private var hasComplained = false
    private var openedAt: ContinuousClock.Instant?
    private var hasBytes = false

    /// - Parameters:
    ///   - source: The name of the source, for messages.
    ///   - endpoint: Where the server is.
    ///   - clock: By which pauses are measured.
    ///   - log: Told once when the connection is lost, and once when it is back.
    init(
        source: String,
        endpoint: StreamEndpoint,
        clock: any Timekeeper,
        log: @escaping SourceLog
    ) {
        self.source = source
        self.endpoint = endpoint
        self.clock = clock
        self.log = log
    }

    /// Begins; the handler is never called before this returns, nor after ``stop()``.
    func start(_ handler: @escaping @LoopActor (Event) -> Void) {
        self.handler = handler
        backOff.reset()
        hasToldLoss = false
        hasComplained = false
        connect()
    }

    /// Ends at once, whatever state it is in.
    func stop() {
        handler = nil
        retry?.cancel()
        retry = nil
        connection?.close()
        connection = nil
    }

    /// Sends a request, if there is a connection.
    func send(_ text: String) {
        connection?.send(text)
    }

    private func connect() {
        openedAt = nil
        hasBytes = false
        connection = StreamConnection(endpoint) { [weak self] event in self?.handle(event) }
    }

    private func handle(_ event: StreamConnection.Event) {
        switch event {
        case .opened:
            openedAt = clock.now
            handler?(.opened)
        case .bytes(let bytes):
            hasBytes = true
            if hasToldLoss {
                hasToldLoss = false
                log("source \(source): \(endpoint) is back")
            }
            handler?(.bytes(bytes))
        case .ended(let reason):
            connection = nil
            if let openedAt, hasBytes, openedAt.duration(to: clock.now) >= BackOff.trial {
                backOff.reset()
                hasComplained = false
            }
            if !hasToldLoss, !(hasBytes && hasComplained) {
                hasToldLoss = true
                hasComplained = true
                log("source \(source): \(reason); trying again")
            }
            let pause = hasBytes ? min(backOff.next(), BackOff.longestAfterBytes) : backOff.next()
            retry = clock.schedule(after: pause) { [weak self] in self?.connect() }
            handler?(.lost(reason: reason))
        }
    }
}
