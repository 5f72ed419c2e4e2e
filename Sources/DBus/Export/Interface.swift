// SPDX-License-Identifier: Apache-2.0

internal import EventLoop

/// What an object can do, in one table: methods, properties and signals with their types.
///
/// The types in the table come from the Swift types of the handlers, so that what is announced
/// by introspection is what is checked when a call arrives.
public struct Interface: Sendable {
    /// The interface's name.
    public let name: InterfaceName
    let methods: [Method]
    let properties: [Property]
    let signals: [SignalDescription]
    private let visibility: (@LoopActor @Sendable (Call) -> Bool)?

    /// Makes an interface of its members, in the order in which they are introspected.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - members: Its methods, properties and signals.
    ///   - visibility: Whether the maker of a call can see it: to others there is no such
    ///     interface. All can if this is `nil`.
    public init(
        _ name: InterfaceName,
        _ members: [Member],
        visibleTo visibility: (@LoopActor @Sendable (Call) -> Bool)? = nil
    ) {
        self.name = name
        self.visibility = visibility
        methods = members.compactMap { if case .method(let it) = $0.kind { it } else { nil } }
        properties = members.compactMap { if case .property(let it) = $0.kind { it } else { nil } }
        signals = members.compactMap { if case .signal(let it) = $0.kind { it } else { nil } }
    }

    /// One member of an interface, made by ``method(_:in:out:_:)-(_,_,_,_)`` and its like.
    public struct Member: Sendable {
        let kind: Kind

        enum Kind {
            case method(Method)
            case property(Property)
            case signal(SignalDescription)
        }
    }

    /// Whether the maker of a call can see it.
    @LoopActor func isVisible(to call: Call) -> Bool { visibility?(call) ?? true }

    /// The values of all properties as the maker of a call sees them.
    @LoopActor func contents(for call: Call) throws -> [String: PropertyContent] {
        var contents: [String: PropertyContent] = [:]
        for property in properties { contents[property.name.string] = try property.get(call) }
        return contents
    }

    /// The values of those properties that can be read now.
    @LoopActor func readableContents(for call: Call) -> [String: PropertyContent] {
        var contents: [String: PropertyContent] = [:]
        for property in properties { contents[property.name.string] = try? property.get(call) }
        return contents
    }

    // Every call looks for its method: nothing is copied but what is found.

    func method(_ name: MemberName) -> Method? {
        methods.indices.first { methods[$0].name == name }.map { methods[$0] }
    }

    func property(_ name: String) -> Property? {
        properties.indices.first { properties[$0].name.string == name }.map { properties[$0] }
    }
}

/// An argument of a method or signal, for introspection.
struct Argument: Sendable {
    let name: String
    let signature: Signature

    /// Names and types side by side; there must be as many of the one as of the other.
    static func list<each Content: DBusType>(
        _ names: [String],
        of member: MemberName,
        _ types: repeat (each Content).Type
    ) -> [Argument] {
        var signatures: [Signature] = []
        for type in repeat each types { signatures.append(type.signature) }
        precondition(names.count == signatures.count, "\(member): each argument needs one name")
        return zip(names, signatures).map { Argument(name: $0, signature: $1) }
    }
}

/// A signal of an interface, with the types of its arguments.
struct SignalDescription: Sendable {
    let name: MemberName
    let arguments: [Argument]
}

/// A method of an interface.
struct Method: Sendable {
    let name: MemberName
    let inputs: [Argument]
    let outputs: [Argument]

    /// Reads the arguments, runs the handler, and answers.
    ///
    /// It answers at once, or later if the handler waits for something. Handlers
    /// begin in the order of these calls.
    let run: @LoopActor (Call, borrowing Message, Answer) -> Void
}

extension Interface.Member {
    /// A method that answers at once.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - inputs: The names of its arguments.
    ///   - outputs: The names of its results.
    ///   - body: Takes the call and its arguments, and returns the results. What it throws is
    ///     the answer; an error that is no ``DBusError`` is answered as `Failed`.
    /// - Returns: A member for the table.
    public static func method<each Input: DBusDecodable, each Output: DBusEncodable>(
        _ name: MemberName,
        in inputs: [String] = [],
        out outputs: [String] = [],
        _ body: @escaping @LoopActor (Call, repeat each Input) throws -> (repeat each Output)
    ) -> Self {
        let method = Method(
            name: name,
            inputs: Argument.list(inputs, of: name, repeat (each Input).self),
            outputs: Argument.list(outputs, of: name, repeat (each Output).self)
        ) { call, message, answer in
            do {
                let arguments = try message.arguments(repeat (each Input).self)
                answer.order.run {
                    do {
                        let results = try body(call, repeat each arguments)
                        answer.succeed(repeat each results)
                    } catch {
                        answer.fail(error)
                    }
                }
            } catch {
                answer.fail(error)
            }
        }
        return Self(kind: .method(method))
    }

    /// A method that may wait before it answers.
    ///
    /// Handlers begin in the order in which the calls arrive; while one waits, others begin. The
    /// handler's task is cancelled when the caller leaves the bus.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - inputs: The names of its arguments.
    ///   - outputs: The names of its results.
    ///   - body: Takes the call and its arguments, and returns the results. What it throws is
    ///     the answer; an error that is no ``DBusError`` is answered as `Failed`.
    /// - Returns: A member for the table.
    public static func asyncMethod<
        each Input: DBusDecodable,
        each Output: DBusEncodable
    >(
        _ name: MemberName,
        in inputs: [String] = [],
        out outputs: [String] = [],
        _ body: @escaping @LoopActor (Call, repeat each Input) async throws -> (repeat each Output)
    ) -> Self {
        let method = Method(
            name: name,
            inputs: Argument.list(inputs, of: name, repeat (each Input).self),
            outputs: Argument.list(outputs, of: name, repeat (each Output).self)
        ) { call, message, answer in
            do {
                let arguments = try message.arguments(repeat (each Input).self)
                answer.order.start(call) {
                    do {
                        let results = try await body(call, repeat each arguments)
                        answer.succeed(repeat each results)
                    } catch {
                        answer.fail(error)
                    }
                }
            } catch {
                answer.fail(error)
            }
        }
        return Self(kind: .method(method))
    }

    /// A signal, for introspection and for the type of what is emitted.
    public static func signal<each Argument>(_ signal: Signal<repeat each Argument>) -> Self {
        Self(kind: .signal(signal.description))
    }
}

/// A signal with the types of its arguments, shared by who emits it and who listens.
public struct Signal<each Argument: DBusCodable>: Sendable {
    /// The interface that it belongs to.
    public let interface: InterfaceName

    /// The signal's name.
    public let name: MemberName
    let description: SignalDescription

    /// Declares a signal.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - interface: The interface that it belongs to.
    ///   - arguments: The names of its arguments.
    public init(_ name: MemberName, of interface: InterfaceName, arguments: [String] = []) {
        self.name = name
        self.interface = interface
        description = SignalDescription(
            name: name,
            arguments: DBus.Argument.list(arguments, of: name, repeat (each Argument).self)
        )
    }
}

/// A signal without arguments.
public typealias EmptySignal = Signal<>
