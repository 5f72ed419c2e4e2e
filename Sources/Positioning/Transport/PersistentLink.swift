// SPDX-License-Identifier: Apache-2.0

internal import EventLoop

/// Keeps a link to something while it is wanted: made, watched, and made again with growing pauses
/// when it ends.
///
/// A pause grows until a link on which bytes come has stayed for some seconds: a server that
/// accepts and hangs up at once is no better than none, and one that greets first is only asked a
/// little sooner, and complained of no oftener. There is never more than one link.
@LoopActor final class PersistentLink {
    /// What its owner is told.
    enum Event {
        /// There is a link: a request can be sent.
        case opened
        /// The next bytes of a stream have come.
        case bytes(ArraySlice<UInt8>)
        /// A datagram has come.
        case datagram(ArraySlice<UInt8>, from: SocketAddress)
        /// There is no link; the reason is a clause. Told for each attempt that fails.
        case lost(reason: String)
    }

    private let source: String
    private let target: String
    private let clock: any Timekeeper
    private let log: SourceLog
    private let open: @LoopActor (@escaping @LoopActor (LinkEvent) -> Void) -> any Link
    private var handler: (@LoopActor (Event) -> Void)?
    private var link: (any Link)?
    private var retry: Timer?
    private var backOff = BackOff()
    private var hasToldLoss = false

    /// Whether a loss has been told since there was a link that stayed.
    private var hasComplained = false
    private var openedAt: ContinuousClock.Instant?
    private var hasBytes = false

    /// - Parameters:
    ///   - source: The name of the source, for messages.
    ///   - target: What is linked to, for messages.
    ///   - clock: By which pauses are measured.
    ///   - log: Told once when the link is lost, and once when it is back.
    ///   - open: Makes one attempt.
    init(
        source: String,
        target: String,
        clock: any Timekeeper,
        log: @escaping SourceLog,
        open: @escaping @LoopActor (@escaping @LoopActor (LinkEvent) -> Void) -> any Link
    ) {
        self.source = source
        self.target = target
        self.clock = clock
        self.log = log
        self.open = open
    }

    /// Keeps a connection to a server.
    convenience init(
        source: String,
        endpoint: StreamEndpoint,
        clock: any Timekeeper,
        log: @escaping SourceLog
    ) {
        self.init(source: source, target: "\(endpoint)", clock: clock, log: log) { handler in
            StreamConnection(endpoint, handler: handler)
        }
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
        link?.close()
        link = nil
    }

    /// Sends a request, if there is a link.
    func send(_ text: String) {
        link?.send(text)
    }

    private func connect() {
        openedAt = nil
        hasBytes = false
        link = open { [weak self] event in self?.handle(event) }
    }

    private func noteBytes() {
        hasBytes = true
        guard hasToldLoss else { return }
        hasToldLoss = false
        log("source \(source): \(target) is back")
    }

    private func handle(_ event: LinkEvent) {
        switch event {
        case .opened:
            openedAt = clock.now
            handler?(.opened)
        case .bytes(let bytes):
            noteBytes()
            handler?(.bytes(bytes))
        case .datagram(let bytes, let sender):
            noteBytes()
            handler?(.datagram(bytes, from: sender))
        case .ended(let reason):
            link = nil
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
