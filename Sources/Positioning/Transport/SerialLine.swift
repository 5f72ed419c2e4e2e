// SPDX-License-Identifier: Apache-2.0

internal import EventLoop
private import Glibc
internal import NMEA

/// A serial line while it is open.
///
/// Bytes are passed on from the moment on at which they are known to be NMEA, with those that led
/// to that: so a line of noise counts as none.
@LoopActor final class SerialLine: Link {
    private let port: SerialPort
    private var handler: (@LoopActor (LinkEvent) -> Void)?
    private var search: BaudSearch
    private var number: CInt?
    private var watch: DescriptorWatch?
    private var timer: Timer?
    private var reader = SentenceReader()
    private var buffer = [UInt8](repeating: 0, count: 4096)

    /// What has come at this rate before it was found to be the right one.
    private var heard: [UInt8] = []

    private static let mostHeard = 16_384

    /// Begins to open the line.
    ///
    /// - Parameters:
    ///   - port: Which line.
    ///   - handler: Told what happens, never before this initializer has returned.
    init(_ port: SerialPort, handler: @escaping @LoopActor (LinkEvent) -> Void) {
        self.port = port
        self.handler = handler
        search = port.search
        LoopActor.task { [weak self] in await self?.begin() }
    }

    func close() {
        handler = nil
        timer?.cancel()
        timer = nil
        watch?.cancel()
        watch = nil
        if let number {
            let port = port
            LoopActor.task { try await port.perform { SerialDevice.release(number) } }
        }
        number = nil
    }

    // MARK: Opening

    private func begin() async {
        guard handler != nil else { return }
        let path = port.path
        do {
            let number = try await port.perform { try SerialDevice.open(path) }
            self.number = number
            guard handler != nil else {
                close()
                return
            }
            watch = DescriptorWatch(number, for: []) { [weak self] _ in self?.read() }
            await setUp()
        } catch {
            end("\(error)")
        }
    }

    /// Gives the line the rate that is to be tried, and listens.
    private func setUp() async {
        guard let number else { return }
        // What comes in the meantime is of neither rate.
        watch?.interest = []
        let (path, rate) = (port.path, search.rate)
        do {
            try await port.perform { try SerialDevice.setUp(number, path, rate: rate) }
        } catch {
            guard handler != nil else { return }
            // Some lines do not have all rates.
            if case .fail = search.timeOut(at: port.clock.now) {
                end("\(error)")
            } else {
                await setUp()
            }
            return
        }
        guard handler != nil else { return }
        let isFirst = timer == nil
        reader = SentenceReader()
        heard = []
        search.begin(at: port.clock.now)
        watch?.interest = .readable
        awaitDeadline()
        if isFirst { handler?(.opened) }
    }

    // MARK: Reading

    private func read() {
        guard let number else { return }
        let count = Glibc.read(number, &buffer, buffer.count)
        if count > 0 {
            take(buffer[..<count])
            return
        }
        // A line that has been pulled out reads as ended, or as broken.
        let code = count == 0 ? 0 : errno
        switch code {
        case EAGAIN, EINTR: break
        case 0, EIO, ENXIO, ENODEV: end("\(port.path) was unplugged")
        default: end("\(SystemError(code: code, operation: "read from \(port.path)"))")
        }
    }

    private func take(_ bytes: ArraySlice<UInt8>) {
        let known = reader.statistics.sentences
        reader.append(bytes) { _ in }
        let step = search.heard(
            sentenceCount: reader.statistics.sentences - known,
            at: port.clock.now
        )
        if step == .found {
            port.note(search.rate)
            let all = heard + bytes
            heard = []
            awaitDeadline()
            handler?(.bytes(all[...]))
        } else if search.isFound {
            handler?(.bytes(bytes))
        } else {
            if heard.count > Self.mostHeard { heard = [] }
            heard += bytes
        }
        follow(step)
    }

    // MARK: The rate

    private func awaitDeadline() {
        timer?.cancel()
        timer = search.deadline.map { deadline in
            port.clock.schedule(at: deadline) { [weak self] in
                guard let self else { return }
                follow(search.timeOut(at: port.clock.now))
            }
        }
    }

    private func follow(_ step: BaudSearch.Step) {
        guard handler != nil else { return }
        switch step {
        case .stay: if timer?.deadline != search.deadline { awaitDeadline() }
        case .found: break
        case .change: LoopActor.task { [weak self] in await self?.setUp() }
        case .fail(let reason): end("\(port.path) \(reason)")
        }
    }

    private func end(_ reason: String) {
        let handler = handler
        close()
        handler?(.ended(reason: reason))
    }
}
