// SPDX-License-Identifier: Apache-2.0

internal import EventLoop

/// A serial line by its name, whether or not it is there: makes links to it, and remembers at which
/// baud rate its receiver talked.
///
/// What may block is done on other threads, one thing after the other: so a line that is still
/// being closed is not opened anew, which would find it busy.
@LoopActor final class SerialPort {
    let path: String
    let clock: any Timekeeper
    private let source: String
    private let log: SourceLog
    private let given: Int?
    private var known: Int?
    private var last: Task<Void, any Error>?

    /// - Parameters:
    ///   - source: The name of the source, for messages.
    ///   - path: The device.
    ///   - baud: Its rate, `nil` to find it out.
    ///   - clock: By which the search for the rate is measured.
    ///   - log: Told which rate has been found.
    init(
        source: String,
        path: String,
        baud: Int?,
        clock: any Timekeeper,
        log: @escaping SourceLog
    ) {
        self.source = source
        self.path = path
        given = baud
        self.clock = clock
        self.log = log
    }

    /// The search for the rate, which is a short one if the rate is given.
    var search: BaudSearch {
        given.map { BaudSearch(only: $0) } ?? BaudSearch(first: known)
    }

    /// A search has found the rate.
    func note(_ rate: Int) {
        guard given == nil, rate != known else { return }
        known = rate
        log("source \(source): \(path) sends NMEA at \(rate) baud")
    }

    /// Does what may block, after all that was to be done before.
    func perform<Result: Sendable>(
        _ work: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        let before = last
        return try await withCheckedThrowingContinuation { continuation in
            last = LoopActor.task {
                try? await before?.value
                do {
                    continuation.resume(returning: try await runBlocking(work))
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
    }
}
