// SPDX-License-Identifier: Apache-2.0

public import EventLoop

/// A test waited for something that did not come in time.
public struct DeadlinePassed: Error, CustomStringConvertible {
    /// What was waited for, and what there was instead.
    public let description: String

    /// Makes an error that says what was waited for.
    public init(_ description: String) {
        self.description = "waited in vain for \(description)"
    }
}

/// Waits until a condition on the world outside holds, such as a file of `/proc`.
///
/// For what announces itself (a message, a line, an exit) wait for the announcement instead.
///
/// - Parameters:
///   - what: What is waited for, for the error.
///   - limit: How long at most.
///   - condition: Looked at again and again.
/// - Throws: `DeadlinePassed`, or what the condition throws.
@LoopActor public func eventually(
    _ what: String,
    within limit: Duration = .seconds(20),
    _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.Instant.now.advanced(by: limit)
    while try await !condition() {
        guard ContinuousClock.Instant.now < deadline else { throw DeadlinePassed(what) }
        try await SystemTimekeeper.shared.sleep(for: .milliseconds(5))
    }
}

/// Values that arrive one by one, and tests that wait for them.
@LoopActor public final class Mailbox<Element: Sendable> {
    private var elements: [Element] = []
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private var wakes = 0

    /// Makes an empty mailbox.
    public nonisolated init() {}

    /// What has arrived and was not taken.
    public var contents: [Element] { elements }

    /// Puts a value in.
    public func append(_ element: Element) {
        elements.append(element)
        wakeAll()
    }

    /// Takes the first value that matches, waiting for it if need be; those before it are dropped.
    ///
    /// - Parameters:
    ///   - what: What is waited for, for the error.
    ///   - limit: How long at most.
    ///   - matches: Which value will do.
    /// - Returns: The value.
    /// - Throws: `DeadlinePassed` if none came.
    public func next(
        _ what: String = "a value",
        within limit: Duration = .seconds(20),
        where matches: (Element) -> Bool = { _ in true }
    ) async throws -> Element {
        let deadline = ContinuousClock.Instant.now.advanced(by: limit)
        while true {
            let seen = wakes
            if let index = elements.firstIndex(where: matches) {
                let element = elements[index]
                elements.removeSubrange(...index)
                return element
            }
            guard ContinuousClock.Instant.now < deadline else {
                throw DeadlinePassed("\(what); there is: \(elements)")
            }
            let timer = SystemTimekeeper.shared.schedule(at: deadline) { [self] in
                wakeAll()
            }
            // The task may be off the actor for a moment on the way into the closure.
            await withCheckedContinuation { continuation in
                if wakes == seen { waiters.append(continuation) } else { continuation.resume() }
            }
            timer.cancel()
        }
    }

    /// All look again: which of them wants a value only they know.
    private func wakeAll() {
        wakes += 1
        for waiter in waiters { waiter.resume() }
        waiters = []
    }
}
