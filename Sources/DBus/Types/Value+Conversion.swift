// SPDX-License-Identifier: Apache-2.0

extension Value {
    /// Makes the dynamic value of a typed one.
    ///
    /// - Parameter content: A value of a type that is known at compile time.
    /// - Throws: If it has no form on the bus.
    public init(encoding content: some DBusEncodable) throws(DBusError) {
        var message = try Message.scratch()
        try message.append(content)
        guard let value = try message.values().first else {
            throw DBusError(.invalidArguments, "the value has written nothing")
        }
        self = value
    }

    /// Makes the typed value of this dynamic one.
    ///
    /// - Parameter type: The type, whose signature must be that of the value.
    /// - Returns: The typed value.
    /// - Throws: `InvalidArgs` if the value is of another type.
    public func decoded<Content: DBusDecodable>(
        as type: Content.Type = Content.self
    ) throws(DBusError) -> Content {
        // What stands for a variant takes any value, with a variant around it or not.
        if Content.signature == Value.signature, signature != Value.signature {
            return try Value.variant(self).decoded(as: type)
        }
        var message = try Message.scratch()
        try message.append(contentsOf: [self])
        return try message.arguments(type)
    }
}
