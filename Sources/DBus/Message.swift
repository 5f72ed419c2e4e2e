// SPDX-License-Identifier: Apache-2.0

internal import CDBus

/// One reference to a message of libdbus, given back when the value ends.
///
/// It cannot be copied: who holds a `Message` owns a reference, who borrows one does not.
public struct Message: ~Copyable {
    let pointer: OpaquePointer

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
    init(adopting pointer: OpaquePointer) {
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
    /// - Returns: A call without arguments.
    /// - Throws: If there is no memory for it.
    public static func call(
        _ member: MemberName,
        on interface: InterfaceName,
        at path: ObjectPath,
        of destination: BusName?
    ) throws(DBusError) -> Message {
        try adopting(
            dbus_message_new_method_call(
                destination?.string,
                path.string,
                interface.string,
                member.string
            )
        )
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
        let message = try adopting(
            dbus_message_new_signal(path.string, interface.string, member.string)
        )
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

    /// Makes the answer to a call that failed.
    ///
    /// The C function is `dbus_message_new`.
    static func error(_ error: DBusError, to call: Call) throws(DBusError) -> Message {
        let message = try adopting(dbus_message_new(DBUS_MESSAGE_TYPE_ERROR))
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
        return message
    }

    /// Makes a copy that goes to another connection: what was written is not written again.
    ///
    /// The C function is `dbus_message_copy`.
    public func copy(to destination: BusName) throws(DBusError) -> Message {
        let message = try Self.adopting(dbus_message_copy(pointer))
        try message.setDestination(destination)
        return message
    }

    /// Writes arguments behind those that there are, before the message is sent.
    ///
    /// - Parameter arguments: What to write.
    /// - Throws: If one has no form on the bus; the message is then of no use any more.
    public func append<each Argument: DBusEncodable>(
        _ arguments: repeat each Argument
    ) throws(DBusError) {
        var writer = MessageWriter(appendingTo: pointer)
        for argument in repeat each arguments {
            try writer.append(argument)
        }
    }

    private static func adopting(_ pointer: OpaquePointer?) throws(DBusError) -> Message {
        guard let pointer else { throw .outOfMemory }
        return Message(adopting: pointer)
    }

    private func setDestination(_ destination: BusName) throws(DBusError) {
        guard dbus_message_set_destination(pointer, destination.string) != 0 else {
            throw .outOfMemory
        }
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
        guard dbus_message_has_signature(pointer, types) != 0 else {
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

    /// The error that the message is, `nil` if it is none.
    var error: DBusError? {
        guard let errorName else { return nil }
        var reader = MessageReader(readingFrom: pointer)
        let text = reader.nextType == TypeCode.string ? try? reader.next(String.self) : nil
        return DBusError(errorName, text ?? "")
    }

    private func name<Name: DBusName>(_ text: UnsafePointer<CChar>?) -> Name? {
        text.map { Name(unchecked: String(cString: $0)) }
    }
}
