// SPDX-License-Identifier: Apache-2.0

private import CLinux
private import Glibc
private import Synchronization

/// What the loop runs at its next turn, first in, first out.
struct JobQueue {
    enum Entry {
        case job(UnownedJob)
        case work(@LoopActor () -> Void)
    }

    private var entries: [Entry?] = []
    private var head = 0

    var count: Int { entries.count - head }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ entry: Entry) {
        entries.append(entry)
    }

    mutating func popFirst() -> Entry? {
        guard head < entries.count else { return nil }
        let entry = entries[head]
        entries[head] = nil
        head += 1
        // The array is emptied as soon as it is used up, so it stays as long as the longest batch.
        if head == entries.count {
            entries.removeAll(keepingCapacity: true)
            head = 0
        } else if head == 4096 {
            entries.removeFirst(head)
            head = 0
        }
        return entry
    }
}

/// Jobs that other threads hand over, and the `eventfd` that wakes the loop for them.
final class Inbox: Sendable {
    let descriptor: Descriptor
    private let jobs = Mutex<[UnownedJob]>([])

    init() throws(SystemError) {
        descriptor = try Descriptor("create an eventfd") {
            eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
        }
    }

    func append(_ job: UnownedJob) {
        let wasEmpty = jobs.withLock { jobs in
            jobs.append(job)
            return jobs.count == 1
        }
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
        let taken = jobs.withLock { jobs in
            defer { jobs = [] }
            return jobs
        }
        for job in taken { ready.append(.job(job)) }
    }
}
