// SPDX-License-Identifier: Apache-2.0

private import CLinux
private import Glibc

/// What a descriptor is ready for.
public struct Readiness: OptionSet, Hashable, Sendable {
    /// The bits of `EPOLLIN` and its like.
    public let rawValue: UInt32

    /// Makes a set from the bits of `EPOLLIN` and its like.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// There are bytes, a connection or an end of file to read (`EPOLLIN`).
    public static let readable = Readiness(rawValue: EPOLLIN.rawValue)

    /// There is room to write, or a connection has been made (`EPOLLOUT`).
    public static let writable = Readiness(rawValue: EPOLLOUT.rawValue)

    /// The other side has hung up (`EPOLLHUP`); reported whether asked for or not.
    public static let hangup = Readiness(rawValue: EPOLLHUP.rawValue)

    /// The descriptor is in error (`EPOLLERR`); reported whether asked for or not.
    public static let error = Readiness(rawValue: EPOLLERR.rawValue)
}

/// A handler that the event loop calls when a descriptor is ready, until it is cancelled.
///
/// The descriptor stays its owner's, who cancels the watch before closing it.
@LoopActor public final class DescriptorWatch {
    private let descriptor: CInt
    private let key: UInt64
    private var isCancelled = false

    /// What the handler is called for.
    ///
    /// With nothing here, not even a hang-up is reported, so a watch at rest cannot make the loop
    /// spin. Without effect once the watch is cancelled.
    public var interest: Readiness {
        didSet { if interest != oldValue, !isCancelled { update(from: oldValue) } }
    }

    /// Starts to watch a descriptor.
    ///
    /// - Parameters:
    ///   - descriptor: Open while the watch lives; neither a regular file nor a directory. There
    ///     can be one watch for it at a time.
    ///   - interest: What to call the handler for.
    ///   - handler: Called on the loop with what the descriptor is ready for.
    public init(
        _ descriptor: CInt,
        for interest: Readiness,
        handler: @escaping @LoopActor (Readiness) -> Void
    ) {
        self.descriptor = descriptor
        self.interest = interest
        key = EventLoop.shared.poller.reserveKey(for: handler)
        update(from: [])
    }

    /// Stops to watch; the handler is not called again.
    public func cancel() {
        guard !isCancelled else { return }
        interest = []
        isCancelled = true
        EventLoop.shared.poller.releaseKey(key)
    }

    isolated deinit {
        cancel()
    }

    private func update(from old: Readiness) {
        let poller = EventLoop.shared.poller
        poller.setInterest(interest, key: key)
        switch (old.isEmpty, interest.isEmpty) {
        case (true, false): poller.control(EPOLL_CTL_ADD, descriptor, interest, key: key)
        case (false, false): poller.control(EPOLL_CTL_MOD, descriptor, interest, key: key)
        case (false, true): poller.control(EPOLL_CTL_DEL, descriptor, interest, key: key)
        case (true, true): break
        }
    }
}

/// The loop's `epoll` and `timerfd`, and the handlers of watched descriptors.
final class Poller: Sendable {
    private let epoll: Descriptor
    private let timer: Descriptor

    /// Only the loop's thread touches what follows.
    @LoopActor private var registrations: [UInt64: Registration] = [:]
    @LoopActor private var lastKey = Poller.firstKey
    @LoopActor private var armed: ContinuousClock.Instant?
    @LoopActor private var events = [epoll_event](repeating: epoll_event(), count: 64)

    private struct Registration {
        var interest: Readiness = []
        let handler: @LoopActor (Readiness) -> Void
    }

    private static let longestDelay = Duration.seconds(365 * 86_400)
    private static let inboxKey: UInt64 = 0
    private static let timerKey: UInt64 = 1
    private static let firstKey: UInt64 = 2

    init() throws(SystemError) {
        epoll = try Descriptor("create an epoll") { epoll_create1(CInt(EPOLL_CLOEXEC)) }
        timer = try Descriptor("create a timerfd") {
            timerfd_create(CLOCK_BOOTTIME, CInt(TFD_CLOEXEC | TFD_NONBLOCK))
        }
    }

    /// Watches the loop's own descriptors.
    @LoopActor func add(_ inbox: borrowing Descriptor) {
        control(EPOLL_CTL_ADD, inbox.number, .readable, key: Self.inboxKey)
        control(EPOLL_CTL_ADD, timer.number, .readable, key: Self.timerKey)
    }

    /// A name for a registration that no other one ever has: an event that is still on its way
    /// for a cancelled watch finds no handler, even if its descriptor's number is in use again.
    @LoopActor func reserveKey(for handler: @escaping @LoopActor (Readiness) -> Void) -> UInt64 {
        lastKey += 1
        registrations[lastKey] = Registration(handler: handler)
        return lastKey
    }

    @LoopActor func releaseKey(_ key: UInt64) {
        // Taken out first and let go of afterwards: the end of what a handler holds may well
        // cancel other watches, which must not happen while the table is being changed.
        _ = registrations.removeValue(forKey: key)
    }

    @LoopActor func setInterest(_ interest: Readiness, key: UInt64) {
        registrations[key]?.interest = interest
    }

    @LoopActor func control(
        _ operation: CInt,
        _ descriptor: CInt,
        _ interest: Readiness,
        key: UInt64
    ) {
        var event = epoll_event(events: interest.rawValue, data: epoll_data_t(u64: key))
        let status = epoll_ctl(epoll.number, operation, descriptor, &event)
        // A C library may close its descriptor before it takes its watch back, and the kernel
        // drops closed descriptors by itself. Everything else is a mistake of the caller.
        precondition(
            status == 0 || operation == EPOLL_CTL_DEL,
            "cannot watch descriptor \(descriptor): error \(errno)"
        )
    }

    /// Sets the `timerfd` for the next timer, or off.
    @LoopActor func arm(_ deadline: ContinuousClock.Instant?) {
        guard deadline != armed else { return }
        armed = deadline
        var setting = itimerspec()
        if let deadline {
            // Zero would switch it off; a deadline that has passed fires in a nanosecond. For a
            // very late one the loop wakes in between: there are longer times than the kernel has.
            let delay = min(max(deadline - .now, .nanoseconds(1)), Self.longestDelay).components
            setting.it_value.tv_sec = Int(delay.seconds)
            setting.it_value.tv_nsec = Int(delay.attoseconds / 1_000_000_000)
            if setting.it_value.tv_sec == 0 && setting.it_value.tv_nsec == 0 {
                setting.it_value.tv_nsec = 1
            }
        }
        timerfd_settime(timer.number, 0, &setting, nil)
    }

    /// Waits for events and calls the handlers of descriptors.
    ///
    /// - Parameter block: Whether to sleep until there is one.
    /// - Returns: Which of the loop's own descriptors are ready.
    @LoopActor func wait(block: Bool) -> (inbox: Bool, timer: Bool) {
        let count = epoll_wait(epoll.number, &events, CInt(events.count), block ? -1 : 0)
        var woken = (inbox: false, timer: false)
        for index in 0..<max(Int(count), 0) {
            let event = events[index]
            switch event.data.u64 {
            case Self.inboxKey: woken.inbox = true
            case Self.timerKey:
                var expirations: UInt64 = 0
                _ = read(timer.number, &expirations, MemoryLayout.size(ofValue: expirations))
                armed = nil
                woken.timer = true
            case let key: report(Readiness(rawValue: event.events), key: key)
            }
        }
        return woken
    }

    /// Calls a handler, unless one that ran earlier in this turn has taken its interest away.
    @LoopActor private func report(_ readiness: Readiness, key: UInt64) {
        guard let registration = registrations[key], !registration.interest.isEmpty else { return }
        let wanted = readiness.intersection(registration.interest.union([.hangup, .error]))
        if !wanted.isEmpty { registration.handler(wanted) }
    }
}
