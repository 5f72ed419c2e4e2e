// SPDX-License-Identifier: Apache-2.0

internal import CDBus
internal import DBus

/// Reads what libdbus takes for a message in all ways that there are, and writes it again.
package struct DecodingCheck: Sendable {
    /// Something that must not be.
    package struct Finding: Error, CustomStringConvertible {
        package let description: String
        init(_ description: String) { self.description = description }
    }

    /// What became of the inputs.
    package struct Counts: Sendable {
        package var inputs = 0
        /// Those that libdbus takes for a message.
        package var accepted = 0
        /// Those of them that were read and, written again, came out as the same bytes.
        package var decoded = 0
        /// Those of them that cannot be values, since there are descriptors among their types.
        package var refused = 0
    }

    package private(set) var counts = Counts()

    package init() {}

    /// Reads one input.
    package mutating func run(_ bytes: [UInt8]) throws(Finding) {
        counts.inputs += 1
        if let message = Message.demarshalled(bytes) { try check(message, bytes) }
    }

    private mutating func check(_ message: borrowing Message, _ bytes: [UInt8]) throws(Finding) {
        counts.accepted += 1
        try checkHeader(message)
        do {
            try TypedDecoding.run(message, choice: counts.inputs)
            try checkValues(message)
            counts.decoded += 1
        } catch {
            // A message of bytes alone has no descriptors, whatever its types say.
            guard WireMap(of: bytes).hasDescriptors else {
                throw error as? Finding ?? Finding("refused: \(error)")
            }
            counts.refused += 1
        }
    }

    private func checkHeader(_ message: borrowing Message) throws(Finding) {
        // What comes from libdbus is taken for well-formed without a second look.
        try check(message.path)
        try check(message.interface)
        try check(message.member)
        try check(message.sender)
        try check(message.errorName)
        try check(message.signature)
        if message.kind == .error, message.error?.name != message.errorName {
            throw Finding("an error without a name")
        }
        for index in 0..<3 { _ = message.text(at: index) }
    }

    private func check<Name: DBusName>(_ name: Name?) throws(Finding) {
        guard let name, !Name.isValid(name.string) else { return }
        throw Finding("“\(name)” is no \(Name.self)")
    }

    /// Reads all arguments, writes them again, and compares.
    private func checkValues(_ message: borrowing Message) throws {
        let values = try message.values()
        let signature = values.map(\.signature.string).joined()
        guard signature == message.signature.string else {
            throw Finding("“\(message.signature)” was read as “\(signature)”")
        }
        var copy = try Message.forArguments()
        try copy.append(contentsOf: values)
        guard message.body.elementsEqual(copy.body) else {
            throw Finding("written as other bytes: \(values)")
        }
        guard counts.inputs % 8 == 0, let first = values.first else { return }
        do {
            try checkVariant(first)
        } catch let error as DBus.DBusError where error.message.contains("nested too deeply") {
            // The variant is one container more than there were.
        }
    }

    /// Writes a value as a variant and reads it.
    private func checkVariant(_ value: Value) throws {
        var message = try Message.forArguments()
        try message.append(value)
        guard try message.arguments(Value.self).isIdentical(to: value) else {
            throw Finding("changed in a variant: \(value)")
        }
    }
}

extension Message {
    fileprivate static func forArguments() throws -> Message {
        try Message.signal("Rung", of: "org.example.Bell", from: "/")
    }

    /// The bytes of the arguments, in this machine's order of bytes once they have been read.
    fileprivate var body: ArraySlice<UInt8> {
        // A message without a number cannot be marshalled, one with a number not be written to.
        if dbus_message_get_serial(pointer) == 0 { dbus_message_set_serial(pointer, 1) }
        let bytes = marshalled()
        let count = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 4, as: UInt32.self) }
        return bytes.suffix(Int(count))
    }
}
