// SPDX-License-Identifier: Apache-2.0

private import CLinux
private import Glibc
private import Synchronization

/// One thread that waits for descriptors, timers and jobs with one `epoll`, and runs what is due.
///
/// There is one loop in a process, the executor of `LoopActor`. A program either gives it a
/// thread of its own by ``run()``, most simply the main one, or lets ``runInBackground()`` do so.
/// With nothing due the thread sleeps in the kernel without a time-out: it makes no wake-ups.
public final class EventLoop: SerialExecutor, Sendable {
    /// The process's event loop.
    public static let shared = EventLoop()

    /// Timers in real time.
    let timers = TimerQueue()
    let poller: Poller
    let inbox: Inbox

    /// The thread that runs the loop: 0 before there is one.
    private let thread = Atomic<UInt>(0)
    private let isStopping = Atomic<Bool>(false)

    /// What was enqueued on the loop's own thread, in order. Only that thread touches it.
    nonisolated(unsafe) private var ready = JobQueue()

    private init() {
        do {
            poller = try Poller()
            inbox = try Inbox()
        } catch {
            // Without epoll, timerfd and eventfd nothing of the process can run.
            fatalError("event loop: \(error)")
        }
    }

    /// Runs jobs, timers and handlers on the calling thread until ``stop()``.
    ///
    /// A loop that was stopped can be run again, by the same thread only.
    public func run() {
        let caller = UInt(pthread_self())
        let (isFirst, owner) = thread.compareExchange(
            expected: 0,
            desired: caller,
            ordering: .sequentiallyConsistent
        )
        precondition(isFirst || owner == caller, "the event loop runs on another thread")
        LoopActor.assumeIsolated { turnUntilStopped() }
    }

    /// Gives the loop a thread of its own, unless it has one. For programs whose main thread is
    /// taken, and for tests.
    public func runInBackground() {
        Self.backgroundThread
    }

    /// Makes ``run()`` return after the handler that is running. From any thread.
    public func stop() {
        isStopping.store(true, ordering: .sequentiallyConsistent)
        inbox.poke()
    }

    /// Runs a closure on the loop's thread at its next turn, in order with the actor's jobs.
    @LoopActor public func perform(_ work: @escaping @LoopActor () -> Void) {
        ready.append(.work(work))
    }

    @LoopActor private func turnUntilStopped() {
        poller.add(inbox.descriptor)
        while !isStopping.exchange(false, ordering: .sequentiallyConsistent) {
            runBatch()
            poller.arm(timers.nextDeadline)
            let woken = poller.wait(block: ready.isEmpty)
            if woken.inbox { inbox.drain(into: &ready) }
            if woken.timer {
                let now = ContinuousClock.Instant.now
                while timers.runNext(dueAt: now) {}
            }
        }
    }

    /// Runs what is ready now; what that adds waits until descriptors had their turn.
    @LoopActor private func runBatch() {
        for _ in 0..<ready.count {
            guard let next = ready.popFirst() else { return }
            switch next {
            case .job(let job): job.runSynchronously(on: asUnownedSerialExecutor())
            case .work(let work): work()
            }
        }
    }

    private static let backgroundThread: Void = {
        let thread = UnsafeMutablePointer<pthread_t>.allocate(capacity: 1)
        defer { thread.deallocate() }
        let status = pthread_create(
            thread,
            nil,
            { _ in
                EventLoop.shared.run(); return nil
            },
            nil
        )
        precondition(status == 0, "cannot start a thread for the event loop")
        pthread_detach(thread.pointee)
    }()
}

// MARK: SerialExecutor

extension EventLoop {
    /// Takes a job of the actor; it runs after all that was enqueued before.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if isCurrentThread {
            ready.append(.job(job))
        } else {
            inbox.append(job)
        }
    }

    /// Traps unless the calling thread is the loop's.
    public func checkIsolated() {
        precondition(isCurrentThread, "not on the event loop's thread")
    }

    /// Whether the calling thread is the loop's.
    public func isIsolatingCurrentContext() -> Bool? { isCurrentThread }

    private var isCurrentThread: Bool {
        thread.load(ordering: .relaxed) == UInt(pthread_self())
    }
}
