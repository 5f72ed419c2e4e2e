// SPDX-License-Identifier: Apache-2.0

internal import CDBus
public import EventLoop
private import Glibc

/// An open descriptor that travels over the bus: type `h`.
///
/// All who hold the object share one descriptor, which is closed when the last lets go of it.
/// A message that is written gets a descriptor of its own, and so does who reads one.
public final class UnixDescriptor: Sendable {
    private let descriptor: Descriptor

    /// The number the kernel knows it by; valid while this object lives.
    public var number: CInt { descriptor.number }

    /// Takes over a descriptor.
    public init(_ descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }

    /// Makes a descriptor for the same open file, which somebody else keeps.
    ///
    /// - Parameter number: An open descriptor.
    /// - Throws: If it is not open, or this process has too many.
    public convenience init(duplicating number: CInt) throws(SystemError) {
        self.init(
            try Descriptor("duplicate a descriptor") { fcntl(number, F_DUPFD_CLOEXEC, 3) }
        )
    }
}

extension UnixDescriptor: Hashable {
    /// Whether both are the same object; others may be open for the same file.
    public static func == (left: UnixDescriptor, right: UnixDescriptor) -> Bool { left === right }

    /// Adds the object's identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension UnixDescriptor: DBusEncodable, DBusDecodable {
    /// The letter `h`.
    public static var signature: Signature { Signature(unchecked: "h") }

    /// Writes a duplicate of the descriptor.
    public func encode(into writer: inout MessageWriter) throws(DBusError) {
        try writer.appendDescriptor(number)
    }

    /// Reads a descriptor, which is this side's own.
    public convenience init(from reader: inout MessageReader) throws(DBusError) {
        var number: CInt = -1
        try reader.readBasic(TypeCode.unixDescriptor, into: &number)
        // libdbus duplicates it, for which this process may have too many.
        guard number >= 0 else {
            throw DBusError(.limitsExceeded, "this process cannot open another descriptor")
        }
        self.init(Descriptor(adopting: number))
    }
}
