// SPDX-License-Identifier: Apache-2.0

// A daemon in small, for the tests of what needs a process of its own: the loop on the main
// thread, signals to the process, and stopping.

import EventLoop
import Glibc

func say(_ line: String) {
    print(line)
    fflush(nil)
}

func threadCount() -> String {
    guard let file = fopen("/proc/self/status", "r") else { return "?" }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, 256, file) != nil {
        let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
        let words = text.split { $0 == "\t" || $0 == "\n" }
        if words.first == "Threads:" { return words.dropFirst().joined() }
    }
    return "?"
}

SignalWatch.block([SIGTERM, SIGHUP])
EventLoop.shared.run {
    LoopActor.task {
        let watch = try SignalWatch([SIGTERM, SIGHUP]) { signal in
            say(signal == SIGHUP ? "SIGHUP" : "SIGTERM")
            if signal == SIGTERM { EventLoop.shared.stop() }
        }
        // Nothing that resumes a task may start a thread that stays.
        try await SystemTimekeeper.shared.sleep(for: .milliseconds(1))
        _ = await LoopActor.task { 1 }.result
        await withCheckedContinuation { continuation in
            EventLoop.shared.perform { continuation.resume() }
        }
        say("running with \(threadCount()) thread")
        // Long enough for any test; it keeps the watch.
        try await SystemTimekeeper.shared.sleep(for: .seconds(3600))
        withExtendedLifetime(watch) {}
    }
}
say("stopped")
