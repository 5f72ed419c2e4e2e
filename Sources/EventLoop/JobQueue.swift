// SPDX-License-Identifier: Apache-2.0

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
