// SPDX-License-Identifier: Apache-2.0

/// Where a server listens.
public enum StreamEndpoint: Hashable, Sendable, CustomStringConvertible {
    /// At a path.
    case unix(String)
    /// At a port of a host, by name or number.
    case tcp(host: String, port: UInt16)

    /// The endpoint as people write it.
    public var description: String {
        switch self {
        case .unix(let path): path
        case .tcp(let host, let port):
            host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        }
    }
}
