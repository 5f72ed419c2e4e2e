// SPDX-License-Identifier: Apache-2.0

internal import CDBus
private import Glibc

/// One reference to a message of libdbus, given back when the value ends.
///
/// It cannot be copied: who holds a `Message` owns a reference, who borrows one does not.
public struct Message: ~Copyable {
    package let pointer: OpaquePointer

    /// How long the body is that was written here, in bytes.
    private(set) var size = 0
    /// How many descriptors were written here.
    private(set) var descriptorCount = 0
    /// Whether all that was begun was written; a bus ends the connection of who sends anything else.
    private(set) var isWhole = true

    /// What a message is.
    public enum Kind: Hashable, Sendable {
        /// It asks for a method to be run.
        case methodCall
        /// It answers a call.
        case methodReturn
        /// It answers a call that failed.
        case error
        /// It tells of something.
        case signal
        /// It is of a kind that this version of the specification does not know.
        case unknown
    }

    /// Takes over a reference that nobody else will give back.
    package init(adopting pointer: OpaquePointer) {
        self.pointer = pointer
    }

    /// Takes a reference besides its holder's own.
    ///
    /// The C function is `dbus_message_ref`.
    init(retaining pointer: OpaquePointer) {
        self.pointer = dbus_message_ref(pointer)
    }

    deinit {
        dbus_message_unref(pointer)
    }
}

// MARK: Making messages

extension Message {
    /// Makes a call of a method.
    ///
    /// The C function is `dbus_message_new_method_call`.
    ///
    /// - Parameters:
    ///   - member: The method.
    ///   - interface: Its interface.
    ///   - path: The object.
    ///   - destination: The connection; `nil` between two peers without a bus.
    ///   - flags: What the peer and the bus may do for it.
    /// - Returns: A call without arguments.
    /// - Throws: If there is no memory for it.
    public static func call(
        _ member: MemberName,
        on interface: InterfaceName,
        at path: ObjectPath,
        of destination: BusName?,
        flags: CallFlags = []
    ) throws(DBusError) -> Message {
        let pointer = path.withCString { path in
            interface.withCString { interface in
                member.withCString { dbus_message_new_method_call(nil, path, interface, $0) }
            }
        }
        let message = try adopting(pointer)
        if let destination { try message.setDestination(destination) }
        if flags.contains(.interactiveAuthorization) {
            dbus_message_set_allow_interactive_authorization(message.pointer, 1)
        }
        if flags.contains(.noActivation) { dbus_message_set_auto_start(message.pointer, 0) }
        return message
    }

    /// Makes a signal.
    ///
    /// The C function is `dbus_message_new_signal`.
    ///
    /// - Parameters:
    ///   - member: The signal.
    ///   - interface: Its interface.
    ///   - path: The object that it comes from.
    ///   - destination: The only connection that is to get it; `nil` for all that listen.
    /// - Returns: A signal without arguments.
    /// - Throws: If there is no memory for it.
    public static func signal(
        _ member: MemberName,
        of interface: InterfaceName,
        from path: ObjectPath,
        to destination: BusName? = nil
    ) throws(DBusError) -> Message {
        let pointer = path.withCString { path in
            interface.withCString { interface in
                member.withCString { dbus_message_new_signal(path, interface, $0) }
            }
        }
        let message = try adopting(pointer)
        if let destination { try message.setDestination(destination) }
        return message
    }

    /// Makes the answer to a call.
    ///
    /// The C function is `dbus_message_new`.
    static func methodReturn(to call: Call) throws(DBusError) -> Message {
        let message = try adopting(dbus_message_new(DBUS_MESSAGE_TYPE_METHOD_RETURN))
        try message.address(to: call)
        return message
    }

    /// Makes a message that is written and read, but not sent.
    static func scratch() throws(DBusError) -> Message {
        try adopting(dbus_message_new(DBUS_MESSAGE_TYPE_METHOD_RETURN))
    }

    /// Makes the answer to a call that failed.
    ///
    /// The C function is `dbus_message_new`.
    static func error(_ error: DBusError, to call: Call) throws(DBusError) -> Message {
        var message = try adopting(dbus_message_new(DBUS_MESSAGE_TYPE_ERROR))
        try message.address(to: call)
        guard dbus_message_set_error_name(message.pointer, error.name.string) != 0 else {
            throw .outOfMemory
        }
        // What a handler quotes may hold anything, and be of any length; an answer must come all
        // the same, and not be so large that the bus closes the connection for it.
        let scalars = error.message.unicodeScalars.lazy.filter { $0.value != 0 }.prefix(1000)
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        try message.append(String(text))
        try message.append(contentsOf: error.details)
        return message
    }

    /// Makes a copy that goes to another connection: what was written is not written again.
    ///
    /// The C function is `dbus_message_copy`.
    public func copy(to destination: BusName) throws(DBusError) -> Message {
        var message = try Self.adopting(dbus_message_copy(pointer))
        (message.size, message.descriptorCount) = (size, descriptorCount)
        message.isWhole = isWhole
        try message.setDestination(destination)
        return message
    }

    /// Writes arguments behind those that there are, before the message is sent.
    ///
    /// - Parameter arguments: What to write.
    /// - Throws: If one has no form on the bus; the message is then of no use any more.
    public mutating func append<each Argument: DBusEncodable>(
        _ arguments: repeat each Argument
    ) throws(DBusError) {
        var letters = 0
        for argument in repeat each arguments {
            letters += type(of: argument).signature.string.utf8.count
        }
        try write(letters: letters) { writer throws(DBusError) in
            for argument in repeat each arguments { try argument.encode(into: &writer) }
        }
    }

    /// Writes values of dynamic types, each as its own type, not as a variant.
    ///
    /// - Parameter values: What to write.
    /// - Throws: If one has no form on the bus; the message is then of no use any more.
    public mutating func append(contentsOf values: [Value]) throws(DBusError) {
        let letters = values.reduce(0) { $0 + $1.signature.string.utf8.count }
        try write(letters: letters) { writer throws(DBusError) in
            for value in values { try value.encodeBare(into: &writer) }
        }
    }

    /// Writes arguments whose types have so many letters.
    private mutating func write(
        letters: Int,
        _ body: (inout MessageWriter) throws(DBusError) -> Void
    ) throws(DBusError) {
        // libdbus takes a change of a message that it sends for a mistake of the program.
        guard dbus_message_get_serial(pointer) == 0 else {
            throw DBusError(.failed, "the message has been sent and cannot be changed")
        }
        guard Int(strlen(dbus_message_get_signature(pointer))) + letters <= 255 else {
            throw DBusError(.limitsExceeded, "the types of a message take more than 255 letters")
        }
        guard isWhole else { throw .notWhole }
        var writer = MessageWriter(
            appendingTo: pointer,
            size: size,
            descriptorCount: descriptorCount
        )
        isWhole = false
        try body(&writer)
        guard !writer.hasAbandoned else {
            throw .notWhole
        }
        isWhole = true
        (size, descriptorCount) = (writer.size, writer.descriptorCount)
    }

    private static func adopting(_ pointer: OpaquePointer?) throws(DBusError) -> Message {
        guard let pointer else { throw .outOfMemory }
        return Message(adopting: pointer)
    }

    private func setDestination(_ destination: BusName) throws(DBusError) {
        let isSet = destination.withCString { dbus_message_set_destination(pointer, $0) }
        guard isSet != 0 else { throw .outOfMemory }
    }

    private func address(to call: Call) throws(DBusError) {
        guard dbus_message_set_reply_serial(pointer, call.serial) != 0 else { throw .outOfMemory }
        if let sender = call.sender { try setDestination(sender) }
        dbus_message_set_no_reply(pointer, 1)
    }
}

// MARK: Reading messages

extension Message {
    /// What the message is.
    public var kind: Kind {
        switch dbus_message_get_type(pointer) {
        case DBUS_MESSAGE_TYPE_METHOD_CALL: .methodCall
        case DBUS_MESSAGE_TYPE_METHOD_RETURN: .methodReturn
        case DBUS_MESSAGE_TYPE_ERROR: .error
        case DBUS_MESSAGE_TYPE_SIGNAL: .signal
        default: .unknown
        }
    }

    /// The connection that sent it, as the bus says; `nil` without a bus.
    public var sender: BusName? { name(dbus_message_get_sender(pointer)) }

    /// The object that it is for, or that a signal comes from.
    public var path: ObjectPath? { name(dbus_message_get_path(pointer)) }

    /// The interface of its member.
    public var interface: InterfaceName? { name(dbus_message_get_interface(pointer)) }

    /// The method or signal.
    public var member: MemberName? { name(dbus_message_get_member(pointer)) }

    /// The name of the error, if it is one.
    public var errorName: ErrorName? { name(dbus_message_get_error_name(pointer)) }

    /// The types of its arguments.
    public var signature: Signature {
        name(dbus_message_get_signature(pointer)) ?? Signature(unchecked: "")
    }

    /// The number that an answer to it refers to.
    var serial: UInt32 { dbus_message_get_serial(pointer) }

    /// Whether its sender waits for an answer.
    var expectsReply: Bool { dbus_message_get_no_reply(pointer) == 0 }

    /// Whether its sender allows the person to be asked before it is answered.
    var allowsInteractiveAuthorization: Bool {
        dbus_message_get_allow_interactive_authorization(pointer) != 0
    }

    /// Reads all arguments.
    ///
    /// - Parameter types: The types that are expected, no more and no fewer.
    /// - Returns: The arguments, as a tuple if there are several.
    /// - Throws: `InvalidArgs` if the message has others.
    public func arguments<each Argument: DBusDecodable>(
        _ types: repeat (each Argument).Type
    ) throws(DBusError) -> (repeat each Argument) {
        var expected = ""
        for type in repeat each types { expected += type.signature.string }
        try expect(expected)
        var reader = MessageReader(readingFrom: pointer)
        return (repeat try reader.next((each Argument).self))
    }

    /// Throws unless the arguments are of these types, no more and no fewer.
    func expect(_ types: String) throws(DBusError) {
        guard types.withCString({ dbus_message_has_signature(pointer, $0) }) != 0 else {
            throw DBusError(
                .invalidArguments,
                "expected arguments of type “\(types)”, there are “\(signature)”"
            )
        }
    }

    /// Reads one argument, which there must be.
    func readArgument(_ index: Int, _ body: (inout MessageReader) throws -> Void) rethrows {
        var reader = MessageReader(readingFrom: pointer)
        for _ in 0..<index { reader.skip() }
        try body(&reader)
    }

    /// Reads all arguments, whatever their types.
    ///
    /// - Returns: The arguments.
    /// - Throws: If this process cannot open the descriptors among them.
    public func values() throws(DBusError) -> [Value] {
        var reader = MessageReader(readingFrom: pointer)
        var values: [Value] = []
        while !reader.isAtEnd { values.append(try Value(contentFrom: &reader)) }
        return values
    }

    /// The error that the message is, `nil` if it is none.
    package var error: DBusError? {
        guard let errorName else { return nil }
        // They are read whether anybody wants them or not, and take far more memory than on the
        // bus, so there is an end to them.
        var reader = MessageReader(readingFrom: pointer, values: 10_000)
        let isText = reader.nextType == TypeCode.string
        let text = isText ? (try? reader.next(String.self)) ?? "" : ""
        var details: [Value] = []
        while !reader.isAtEnd {
            guard let value = try? Value(contentFrom: &reader) else {
                return DBusError(errorName, text)
            }
            details.append(value)
        }
        return DBusError(errorName, text, details: details)
    }

    private func name<Name: DBusName>(_ text: UnsafePointer<CChar>?) -> Name? {
        text.map { Name(unchecked: String(cString: $0)) }
    }
}
