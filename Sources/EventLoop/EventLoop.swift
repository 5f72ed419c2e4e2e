// SPDX-License-Identifier: Apache-2.0

private import CLinux
private import Glibc
private import Synchronization

/// One thread that waits for descriptors, timers and jobs with one `epoll`, and runs what is due.
///
/// There is one loop in a process, the executor of `LoopActor`. A program that gives it a thread
/// does so by ``run(_:)``, before anything else uses the actor; in any other program the first use
/// starts a thread for it, so that libraries and tests need not care.
///
/// With nothing due the thread sleeps in the kernel without a time-out: it makes no wake-ups.
public final class EventLoop: SerialExecutor, TaskExecutor, Sendable {
    /// The process's event loop.
    public static let shared = EventLoop()

    /// Timers in real time.
    let timers = TimerQueue()
    let poller: Poller
    let inbox: Inbox

    /// The thread that runs the loop, `noThread` before there is one.
    private let thread = Atomic<UInt>(EventLoop.noThread)
    private let isStopping = Atomic<Bool>(false)

    /// What was enqueued on the loop's own thread, in order.
    ///
    /// Only that thread touches it.
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
    /// - Parameter start: Run first, on the loop.
    public func run(_ start: @escaping @LoopActor () async -> Void) {
        let isFirst = claim(for: UInt(pthread_self()))
        precondition(isFirst, "the event loop has another thread already")
        Task(executorPreference: self) { await start() }
        LoopActor.assumeIsolated { turnUntilStopped() }
    }

    /// Runs a program on the calling thread, and ends the process when it returns.
    ///
    /// The status is 0; if the program throws, the error is written to standard error and it is 1.
    ///
    /// - Parameter program: The program.
    public static func main(_ program: @escaping @LoopActor () async throws -> Void) -> Never {
        shared.run {
            do {
                try await program()
                exit(EXIT_SUCCESS)
            } catch {
                let name = CommandLine.arguments.first?.split(separator: "/").last ?? "program"
                let line = Array("\(name): \(error)\n".utf8)
                _ = write(STDERR_FILENO, line, line.count)
                exit(EXIT_FAILURE)
            }
        }
        exit(EXIT_SUCCESS)
    }

    /// Makes ``run(_:)`` return after the handler that is running; can be called on any thread.
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
            if woken.timer { timers.runAll(dueAt: .now) }
        }
    }

    /// Runs what is ready now; what that adds waits until descriptors had their turn.
    @LoopActor private func runBatch() {
        for _ in 0..<ready.count {
            guard let next = ready.popFirst() else { return }
            switch next {
            case .job(let job):
                job.runSynchronously(
                    isolatedTo: asUnownedSerialExecutor(),
                    taskExecutor: asUnownedTaskExecutor()
                )
            case .work(let work): work()
            }
        }
    }

    // MARK: The thread

    private static let noThread: UInt = 0
    /// Between the decision to start a thread and its first step; no thread has this handle.
    private static let startingThread: UInt = 1

    private func claim(for newThread: UInt) -> Bool {
        thread.compareExchange(
            expected: Self.noThread,
            desired: newThread,
            ordering: .sequentiallyConsistent
        ).exchanged
    }

    private func startThreadIfThereIsNone() {
        guard thread.load(ordering: .relaxed) == Self.noThread, claim(for: Self.startingThread)
        else { return }
        var handle = pthread_t()
        let status = pthread_create(
            &handle,
            nil,
            { _ in
                let loop = EventLoop.shared
                loop.thread.store(UInt(pthread_self()), ordering: .sequentiallyConsistent)
                LoopActor.assumeIsolated { loop.turnUntilStopped() }
                return nil
            },
            nil
        )
        precondition(status == 0, "cannot start a thread for the event loop")
        pthread_detach(handle)
    }
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
            startThreadIfThereIsNone()
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
