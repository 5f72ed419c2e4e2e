// SPDX-License-Identifier: Apache-2.0

internal import EventLoop

/// Look-ups of host names, which take as long as the network does, on threads of their own.
///
/// There is at most one for a host and port: a source that is stopped and started again while its
/// name server is silent waits for the look-up that is under way.
@LoopActor enum NameLookUp {
    private static var running: [StreamEndpoint: Task<[SocketAddress], any Error>] = [:]

    /// The addresses of a host.
    ///
    /// - Parameters:
    ///   - host: Its name.
    ///   - port: The port.
    /// - Returns: The addresses, the best one first.
    /// - Throws: If it has none, or nobody could be asked.
    static func addresses(of host: String, port: UInt16) async throws -> [SocketAddress] {
        let endpoint = StreamEndpoint.tcp(host: host, port: port)
        if let task = running[endpoint] { return try await task.value }
        let task = LoopActor.task {
            defer { running[endpoint] = nil }
            return try await runBlocking {
                try SocketAddress.lookUp(host: host, port: port, numericOnly: false)
            }
        }
        running[endpoint] = task
        return try await task.value
    }
}
