// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import TestKit
import Testing

/// Two connected sockets that do not block.
final class SocketPair: Sendable {
    let near: Descriptor
    let far: Descriptor

    init() throws {
        var ends: [CInt] = [-1, -1]
        try retryingOnInterrupt("create a socket pair") {
            let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
            return socketpair(AF_UNIX, kind | CInt(SOCK_CLOEXEC.rawValue), 0, &ends)
        }
        near = Descriptor(adopting: ends[0])
        far = Descriptor(adopting: ends[1])
    }
}

/// Writes one byte.
func poke(_ descriptor: CInt) {
    var byte: UInt8 = 1
    #expect(write(descriptor, &byte, 1) == 1)
}

/// Reads all there is, so that a descriptor is not readable any more.
func drain(_ descriptor: CInt) {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while read(descriptor, &buffer, buffer.count) > 0 {}
}

@Suite @LoopActor struct DescriptorWatchTests {
    /// Watches that their own handlers refer to.
    @LoopActor private final class Group {
        var watches: [DescriptorWatch] = []
    }

    /// Lets the loop go round, descriptors included, a few times.
    private func turns(_ count: Int = 3) async {
        for _ in 0..<count {
            await withCheckedContinuation { continuation in
                EventLoop.shared.perform { continuation.resume() }
            }
        }
    }

    /// Whether the kernel would wake the loop for a descriptor.
    private func isRegistered(_ descriptor: CInt) throws -> Bool {
        for number in 0..<CInt(4096) {
            var target = [CChar](repeating: 0, count: 64)
            let length = readlink("/proc/self/fd/\(number)", &target, target.count - 1)
            let bytes = target.prefix(max(length, 0)).map { UInt8(bitPattern: $0) }
            guard String(decoding: bytes, as: UTF8.self) == "anon_inode:[eventpoll]" else {
                continue
            }
            let lines = try readFile("/proc/self/fdinfo/\(number)").split(separator: "\n")
            let words = lines.map { $0.split(separator: " ") }
            if words.contains(where: { $0.first == "tfd:" && $0[1] == "\(descriptor)" }) {
                return true
            }
        }
        return false
    }

    @Test func `bytes make it readable, once they are read no more`() async throws {
        let pair = try SocketPair()
        let calls = Mailbox<Readiness>()
        let number = pair.near.number
        let watch = DescriptorWatch(number, for: .readable) { readiness in
            drain(number)
            calls.append(readiness)
        }
        await turns()
        #expect(calls.contents.isEmpty)
        poke(pair.far.number)
        #expect(try await calls.next() == .readable)
        await turns()
        #expect(calls.contents.isEmpty)
        watch.cancel()
    }

    @Test func `the interest can be changed from within the handler`() async throws {
        let pair = try SocketPair()
        let calls = Mailbox<Readiness>()
        let number = pair.near.number
        var watch: DescriptorWatch?
        watch = DescriptorWatch(number, for: [.readable, .writable]) { readiness in
            calls.append(readiness)
            watch?.interest = .readable
            drain(number)
        }
        #expect(try await calls.next() == .writable)
        await turns()
        #expect(calls.contents.isEmpty)
        poke(pair.far.number)
        #expect(try await calls.next() == .readable)
        watch?.interest = []
        poke(pair.far.number)
        await turns()
        #expect(calls.contents.isEmpty)
        watch?.interest = .readable
        #expect(try await calls.next() == .readable)
        watch?.cancel()
    }

    @Test func `a watch that is cancelled in its handler is not called again`() async throws {
        let pair = try SocketPair()
        let calls = Mailbox<Void>()
        var watch: DescriptorWatch?
        watch = DescriptorWatch(pair.near.number, for: .writable) { _ in
            calls.append(())
            watch?.cancel()
            watch = nil
        }
        try await calls.next()
        await turns()
        #expect(calls.contents.isEmpty)
    }

    @Test func `of two that are ready, the first can cancel or silence the second`() async throws {
        for silence in [false, true] {
            let (one, other) = (try SocketPair(), try SocketPair())
            var calls = 0
            let group = Group()
            let done = Mailbox<Void>()
            for number in [one.near.number, other.near.number] {
                let watch = DescriptorWatch(number, for: .writable) { _ in
                    calls += 1
                    for watch in group.watches {
                        if silence { watch.interest = [] } else { watch.cancel() }
                    }
                    done.append(())
                }
                group.watches.append(watch)
            }
            try await done.next()
            await turns()
            #expect(calls == 1)
            for watch in group.watches { watch.cancel() }
        }
    }

    @Test func `with nothing to wait for, a hang-up neither calls nor wakes`() async throws {
        let near: Descriptor
        var calls = 0
        do {
            let pair = try SocketPair()
            near = Descriptor(adopting: dup(pair.near.number))
        }
        let watch = DescriptorWatch(near.number, for: []) { _ in calls += 1 }
        await turns()
        #expect(try !isRegistered(near.number))
        watch.interest = .readable
        #expect(try isRegistered(near.number))
        watch.interest = []
        #expect(try !isRegistered(near.number))
        await turns()
        #expect(calls == 0)
        watch.cancel()
    }

    @Test func `a hang-up is told to who waits for anything`() async throws {
        let near: Descriptor
        do {
            let pair = try SocketPair()
            near = Descriptor(adopting: dup(pair.near.number))
        }
        let calls = Mailbox<Readiness>()
        var watch: DescriptorWatch?
        watch = DescriptorWatch(near.number, for: .readable) { readiness in
            calls.append(readiness)
            watch?.cancel()
        }
        #expect(try await calls.next().contains(.hangup))
    }

    @Test func `after its end a watch stays silent, whatever its interest is set to`() async throws
    {
        let pair = try SocketPair()
        var calls = 0
        let watch = DescriptorWatch(pair.near.number, for: .writable) { _ in calls += 1 }
        watch.cancel()
        watch.interest = [.readable, .writable]
        // Were it registered, the loop would turn without end for a watch that nobody hears.
        #expect(try !isRegistered(pair.near.number))
        await turns()
        #expect(calls == 0)
        watch.cancel()
    }

    @Test func `letting go of a watch ends it`() async throws {
        let pair = try SocketPair()
        var calls = 0
        do {
            let watch = DescriptorWatch(pair.near.number, for: .writable) { _ in calls += 1 }
            #expect(watch.interest == .writable)
        }
        #expect(try !isRegistered(pair.near.number))
        await turns()
        #expect(calls == 0)
    }

    @Test func `an event for a closed descriptor does not reach who has its number now`()
        async throws
    {
        let (first, second) = (try SocketPair(), try SocketPair())
        let (done, stale) = (Mailbox<Void>(), Mailbox<Readiness>())
        let group = Group()
        var replacement: DescriptorWatch?
        // Both are ready in one turn; who comes first gives the other one's number to a socket on
        // which nothing is to read.
        for (number, other) in [
            (first.near.number, second.near.number), (second.near.number, first.near.number),
        ] {
            let watch = DescriptorWatch(number, for: .readable) { _ in
                for watch in group.watches { watch.cancel() }
                do {
                    let fresh = try SocketPair()
                    #expect(dup2(fresh.near.number, other) == other)
                    poke(other)
                    replacement = DescriptorWatch(other, for: .readable) { stale.append($0) }
                    replacement?.interest = [.readable]
                    // Its other end must stay open, or there would be a hang-up to tell.
                    #expect(dup2(fresh.far.number, number) == number)
                } catch {
                    Issue.record(error)
                }
                done.append(())
            }
            group.watches.append(watch)
        }
        poke(first.far.number)
        poke(second.far.number)
        try await done.next()
        await turns()
        #expect(stale.contents.isEmpty)
        #expect(done.contents.isEmpty)
        replacement?.cancel()
    }

    /// An owner that only the handler of its watch keeps alive.
    @LoopActor private final class Owner {
        var watches: [DescriptorWatch] = []
        let ended: @LoopActor () -> Void
        init(ended: @escaping @LoopActor () -> Void) { self.ended = ended }
        isolated deinit {
            for watch in watches { watch.cancel() }
            ended()
        }
    }

    @Test func `cancelling can end an owner that cancels its watches`() async throws {
        let (one, other) = (try SocketPair(), try SocketPair())
        var ends = 0
        let second = DescriptorWatch(other.near.number, for: .readable) { _ in }
        let first: DescriptorWatch
        do {
            let owner = Owner { ends += 1 }
            first = DescriptorWatch(one.near.number, for: .readable) { _ in _ = owner }
            owner.watches = [second]
        }
        first.cancel()
        #expect(ends == 1)
        #expect(try !isRegistered(other.near.number))
    }
}
