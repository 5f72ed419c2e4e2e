// SPDX-License-Identifier: Apache-2.0

private import CLinux
internal import EventLoop
private import Glibc

/// A folder that is there for one test and gone with all it holds when the test lets go of it.
public final class TemporaryFolder: Sendable {
    /// Where it is.
    public let path: String

    /// Makes an empty folder.
    public init() throws {
        var template = Array("/tmp/waymark-test.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw SystemError(operation: "make a temporary folder")
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        // Folders are removed on the way back from what they hold; links are not followed.
        var roots = [strdup(path), nil]
        defer { free(roots[0]) }
        guard let tree = fts_open(&roots, FTS_PHYSICAL | FTS_NOCHDIR, nil) else { return }
        defer { fts_close(tree) }
        while let entry = fts_read(tree) {
            if CInt(entry.pointee.fts_info) != FTS_D { remove(entry.pointee.fts_accpath) }
        }
    }

    /// Makes a folder in the folder.
    ///
    /// - Parameter name: Its name.
    /// - Returns: Its path.
    /// - Throws: What the system says.
    @discardableResult
    public func makeFolder(_ name: String) throws -> String {
        let folder = "\(path)/\(name)"
        try retryingOnInterrupt("make \(folder)") { mkdir(folder, 0o755) }
        return folder
    }

    /// Writes a file, replacing one of the same name.
    ///
    /// - Parameters:
    ///   - name: Its name, below the folder.
    ///   - content: All that it is to hold.
    /// - Returns: Its path.
    /// - Throws: What the system says.
    @discardableResult
    public func write(_ name: String, _ content: String) throws -> String {
        let file = "\(path)/\(name)"
        let bytes = Array(content.utf8)
        let descriptor = try Descriptor("create \(file)") {
            open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = try retryingOnInterrupt("write \(file)") {
                rest.withUnsafeBytes { Glibc.write(descriptor.number, $0.baseAddress, $0.count) }
            }
            rest.removeFirst(count)
        }
        return file
    }
}

/// All that a file holds.
///
/// - Parameter path: Where it is.
/// - Returns: Its content, bytes that are not UTF-8 replaced.
/// - Throws: What the system says.
public func readFile(_ path: String) throws -> String {
    let descriptor = try Descriptor("open \(path)") { open(path, O_RDONLY | O_CLOEXEC) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = try retryingOnInterrupt("read \(path)") {
            read(descriptor.number, &buffer, buffer.count)
        }
        guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
        bytes += buffer[..<count]
    }
}
