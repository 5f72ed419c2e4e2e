// SPDX-License-Identifier: Apache-2.0

private import CLinux
internal import EventLoop
private import Glibc

/// A port of 127.0.0.1 that nobody listens at, for a program that has to be told its port.
///
/// It is below those that the kernel gives away by itself, so that no server or connection of a
/// test that runs at the same time gets it by chance.
///
/// - Parameter forDatagrams: Whether it is a port of UDP, else one of TCP.
/// - Returns: The port.
/// - Throws: If none of many is free.
public func freePort(forDatagrams: Bool = false) throws -> UInt16 {
    let type = CInt((forDatagrams ? SOCK_DGRAM : SOCK_STREAM).rawValue)
    for _ in 0..<100 {
        let port = UInt16.random(in: 20_000..<32_000)
        let socket = try Descriptor("make a socket") {
            Glibc.socket(AF_INET, type | CInt(SOCK_CLOEXEC.rawValue), 0)
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let status = withUnsafeBytes(of: &address) {
            Glibc.bind(
                socket.number,
                $0.assumingMemoryBound(to: sockaddr.self).baseAddress,
                socklen_t($0.count)
            )
        }
        if status == 0 { return port }
    }
    throw SystemError(code: EADDRINUSE, operation: "find a free port")
}
