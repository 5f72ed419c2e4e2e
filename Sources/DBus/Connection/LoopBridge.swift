// SPDX-License-Identifier: Apache-2.0

internal import CDBus
internal import EventLoop

/// libdbus's watches and timeouts on the event loop, for one connection.
///
/// libdbus has a watch for reading and one for writing the same descriptor, and switches them on
/// and off all the time; the loop has one registration for a descriptor. The bridge joins them.
/// It never dispatches messages: libdbus forbids that inside its own handlers.
@LoopActor final class LoopBridge {
    private let library: OpaquePointer
    private let wantsDispatch: @LoopActor () -> Void
    private let hasWritten: @LoopActor () -> Void
    private var watches: [OpaquePointer] = []
    /// Whether what has arrived is read; the kernel and the bus keep the rest.
    var isReading = true {
        didSet {
            guard isReading != oldValue else { return }
            for watch in watches { update(descriptorOf: watch) }
        }
    }
    /// Whether the bus has gone.
    ///
    /// What it has left is read then in any case, up to the end, which libdbus takes note of
    /// nowhere else: it would go on trying to write.
    private var hasHungUp = false
    private var registrations: [CInt: DescriptorWatch] = [:]
    private var timers: [OpaquePointer: Timer] = [:]

    /// Takes over a connection's watches, timeouts and dispatch status.
    ///
    /// - Parameters:
    ///   - library: libdbus's connection.
    ///   - wantsDispatch: Called when there are messages to be handed over.
    ///   - hasWritten: Called inside libdbus when nothing more waits to be written.
    init(
        _ library: OpaquePointer,
        wantsDispatch: @escaping @LoopActor () -> Void,
        hasWritten: @escaping @LoopActor () -> Void
    ) {
        self.library = library
        self.wantsDispatch = wantsDispatch
        self.hasWritten = hasWritten
        let context = Unmanaged.passUnretained(self).toOpaque()
        dbus_connection_set_watch_functions(
            library,
            { watch, context in
                bridge(context) {
                    $0.watches.append($1); $0.update(descriptorOf: $1)
                }(watch)
            },
            { watch, context in _ = bridge(context) { $0.remove($1) }(watch) },
            { watch, context in _ = bridge(context) { $0.update(descriptorOf: $1) }(watch) },
            context,
            nil
        )
        dbus_connection_set_timeout_functions(
            library,
            { timeout, context in bridge(context) { $0.arm($1) }(timeout) },
            { timeout, context in _ = bridge(context) { $0.disarm($1) }(timeout) },
            { timeout, context in _ = bridge(context) { $0.arm($1) }(timeout) },
            context,
            nil
        )
        dbus_connection_set_dispatch_status_function(
            library,
            { _, status, context in
                guard status == DBUS_DISPATCH_DATA_REMAINS else { return }
                _ = bridge(context) { me, _ in me.wantsDispatch() }(OpaquePointer(bitPattern: 1))
            },
            context,
            nil
        )
    }

    /// Lets go of the connection, before it is given back or this object ends.
    func detach() {
        dbus_connection_set_dispatch_status_function(library, nil, nil, nil)
        dbus_connection_set_timeout_functions(library, nil, nil, nil, nil, nil)
        dbus_connection_set_watch_functions(library, nil, nil, nil, nil, nil)
        for registration in registrations.values { registration.cancel() }
        for timer in timers.values { timer.cancel() }
        registrations = [:]
        timers = [:]
        watches = []
    }

    // MARK: Watches

    private func remove(_ watch: OpaquePointer) {
        watches.removeAll { $0 == watch }
        update(descriptorOf: watch)
    }

    private func update(descriptorOf watch: OpaquePointer) {
        let descriptor = dbus_watch_get_unix_fd(watch)
        let own = watches.filter { dbus_watch_get_unix_fd($0) == descriptor }
        guard !own.isEmpty else {
            registrations.removeValue(forKey: descriptor)?.cancel()
            return
        }
        let interest = own.reduce(into: Readiness()) { $0.formUnion(interestOf($1)) }
        if let registration = registrations[descriptor] {
            let wasWriting = registration.interest.contains(.writable)
            registration.interest = interest
            if wasWriting, !interest.contains(.writable) { hasWritten() }
        } else {
            registrations[descriptor] = DescriptorWatch(descriptor, for: interest) {
                [weak self] readiness in
                self?.handle(readiness, on: descriptor)
            }
        }
    }

    private func interestOf(_ watch: OpaquePointer) -> Readiness {
        guard dbus_watch_get_enabled(watch) != 0 else { return [] }
        let flags = dbus_watch_get_flags(watch)
        var interest = Readiness()
        if flags & DBUS_WATCH_READABLE.rawValue != 0, isReading || hasHungUp {
            interest.insert(.readable)
        }
        if flags & DBUS_WATCH_WRITABLE.rawValue != 0 { interest.insert(.writable) }
        return interest
    }

    private func handle(_ readiness: Readiness, on descriptor: CInt) {
        if !isReading, !hasHungUp, !readiness.isDisjoint(with: [.hangup, .error]) {
            hasHungUp = true
            for watch in watches { update(descriptorOf: watch) }
            return
        }
        // A handler may take watches back, this one's neighbours included: libdbus has freed a
        // watch that is not among them any more.
        for watch in watches {
            guard watches.contains(watch), dbus_watch_get_unix_fd(watch) == descriptor else {
                continue
            }
            let interest = interestOf(watch)
            guard !interest.isEmpty else { continue }
            var flags: UInt32 = 0
            if readiness.intersection(interest).contains(.readable) {
                flags |= DBUS_WATCH_READABLE.rawValue
            }
            if readiness.intersection(interest).contains(.writable) {
                flags |= DBUS_WATCH_WRITABLE.rawValue
            }
            if readiness.contains(.hangup) { flags |= DBUS_WATCH_HANGUP.rawValue }
            if readiness.contains(.error) { flags |= DBUS_WATCH_ERROR.rawValue }
            if flags != 0 { dbus_watch_handle(watch, flags) }
        }
    }

    // MARK: Timeouts

    private func arm(_ timeout: OpaquePointer) {
        disarm(timeout)
        guard dbus_timeout_get_enabled(timeout) != 0 else { return }
        let interval = Duration.milliseconds(dbus_timeout_get_interval(timeout))
        nonisolated(unsafe) let timeout = timeout
        timers[timeout] = SystemTimekeeper.shared.schedule(after: interval) { [weak self] in
            guard let self else { return }
            // A timeout of libdbus repeats until it is taken back.
            arm(timeout)
            dbus_timeout_handle(timeout)
        }
    }

    private func disarm(_ timeout: OpaquePointer) {
        timers.removeValue(forKey: timeout)?.cancel()
    }
}

/// Runs a step of a bridge in a callback of libdbus, which arrives on the loop's thread.
///
/// - Returns: Takes the callback's watch or timeout; returns true, for "there was memory".
private func bridge(
    _ context: UnsafeMutableRawPointer?,
    _ step: @escaping @LoopActor (LoopBridge, OpaquePointer) -> Void
) -> (OpaquePointer?) -> dbus_bool_t {
    { subject in
        guard let context, let subject else { return 0 }
        nonisolated(unsafe) let (owner, item) = (context, subject)
        LoopActor.assumeIsolated {
            step(Unmanaged<LoopBridge>.fromOpaque(owner).takeUnretainedValue(), item)
        }
        return 1
    }
}
