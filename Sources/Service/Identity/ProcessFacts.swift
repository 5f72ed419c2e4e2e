// SPDX-License-Identifier: Apache-2.0

internal import EventLoop
private import Glibc

/// What `/proc` says about a process, read without being fooled by a process id used again.
struct ProcessFacts: Hashable {
    /// The real path of its executable, `nil` where this daemon may not look.
    var executable: String?
    /// Whether the file is not at that path any more: the path then proves nothing.
    var isExecutableGone = false
    /// The path of its cgroup in the unified hierarchy, such as `/system.slice/foo.service`.
    var controlGroup: String?

    /// Reads the facts; `nil` if there is no such process, or another one took its place meanwhile.
    init?(processID: UInt32) {
        let folder = "/proc/\(processID)"
        guard let start = Self.startTime(in: folder) else { return nil }
        executable = Self.link("\(folder)/exe")
        if let path = executable, path.hasSuffix(Self.goneMark) {
            executable = String(path.dropLast(Self.goneMark.count))
            isExecutableGone = true
        }
        controlGroup = (try? readSmallFile("\(folder)/cgroup")).flatMap(Self.unifiedPath)
        guard Self.startTime(in: folder) == start else { return nil }
    }

    init(
        executable: String? = nil,
        isExecutableGone: Bool = false,
        controlGroup: String? = nil
    ) {
        self.executable = executable
        self.isExecutableGone = isExecutableGone
        self.controlGroup = controlGroup
    }

    /// The 22nd field of `stat`: ticks since boot.
    ///
    /// The second field, the program's name in parentheses, may hold anything, so counting begins
    /// behind the last parenthesis.
    private static func startTime(in folder: String) -> Substring? {
        guard let stat = try? readSmallFile("\(folder)/stat"),
            let end = stat.lastIndex(of: ")")
        else { return nil }
        let fields = stat[end...].split(separator: " ")
        return fields.count > 20 ? fields[20] : nil
    }

    private static func link(_ path: String) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &buffer, buffer.count)
        guard count > 0 else { return nil }
        let bytes = buffer[..<count].map { UInt8(bitPattern: $0) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The kernel's mark for a file that is no longer at its path.
    private static let goneMark = " (deleted)"

    private static func unifiedPath(_ text: String) -> String? {
        text.split(separator: "\n").first { $0.hasPrefix("0::") }.map { String($0.dropFirst(3)) }
    }
}

/// Reads a file of `/proc` or of a like size; a pipe or device, which may never end, is refused.
func readSmallFile(_ path: String) throws(SystemError) -> String {
    let descriptor = try Descriptor("open \(path)") {
        open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    }
    var status = stat()
    guard fstat(descriptor.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
        throw SystemError(code: EINVAL, operation: "read \(path), which is no regular file")
    }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
        let count = try retryingOnInterrupt("read \(path)") {
            read(descriptor.number, &buffer, buffer.count)
        }
        guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
        bytes += buffer[..<count]
    }
}
