// SPDX-License-Identifier: Apache-2.0

private import CLinux
private import Glibc

/// Jobs that other threads hand over, and the `eventfd` that wakes the loop for them.
final class Inbox: Sendable {
    let descriptor: Descriptor
    private let lock = ThreadLock()
    /// Touched by who holds the lock alone.
    nonisolated(unsafe) private var jobs: [UnownedJob] = []

    init() throws(SystemError) {
        descriptor = try Descriptor("create an eventfd") {
            eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
        }
    }

    func append(_ job: UnownedJob) {
        lock.lock()
        jobs.append(job)
        let wasEmpty = jobs.count == 1
        lock.unlock()
        if wasEmpty { poke() }
    }

    func poke() {
        var one: UInt64 = 1
        // It fails only when the counter is full, and then the loop is about to wake anyway.
        _ = write(descriptor.number, &one, MemoryLayout.size(ofValue: one))
    }

    func drain(into ready: inout JobQueue) {
        var count: UInt64 = 0
        _ = read(descriptor.number, &count, MemoryLayout.size(ofValue: count))
        lock.lock()
        let taken = exchange(&jobs, with: [])
        lock.unlock()
        for job in taken { ready.append(.job(job)) }
    }
}

/// A mutex of the C library.
///
/// Swift's own does the same, but the thread sanitizer does not know it and takes what it guards
/// for a race; here, where threads really meet, it is needed most.
private final class ThreadLock: Sendable {
    /// The pointer never changes, and what it points to is made for many threads.
    nonisolated(unsafe) private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(
        capacity: 1
    )

    init() {
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func lock() { pthread_mutex_lock(mutex) }
    func unlock() { pthread_mutex_unlock(mutex) }
}
