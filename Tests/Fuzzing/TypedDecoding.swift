// SPDX-License-Identifier: Apache-2.0

internal import DBus

/// Reads messages as types that programs expect and that they mostly do not have.
enum TypedDecoding {
    /// Reads a message as one of the types.
    static func run(_ message: borrowing Message, choice: Int) throws {
        switch choice % 20 {
        case 0: try read(message, [String: Value].self)
        case 1: try read(message, [String: [Int64]].self)
        case 2: try read(message, [String: UInt32].self)
        case 3: try read(message, [ObjectPath: [String: [String: Value]]].self)
        case 4: try read(message, [[Double]].self)
        case 5: try read(message, [String].self)
        case 6: try read(message, Value.self)
        case 7: try read(message, [Value].self)
        case 8: try read(message, [UInt8].self)
        case 9: try read(message, [Int16: [Bool]].self)
        case 10: try read(message, Signature.self)
        case 11: try read(message, ObjectPath.self)
        case 12: _ = try? message.arguments(String.self, String.self, Value.self)
        case 13: _ = try? message.arguments(String.self, [String: Value].self, [String].self)
        case 14: try read(message, Struct<UInt64, UInt64>.self)
        case 15: try read(message, [Struct<String, Struct<Double, Value>>].self)
        case 16: _ = try? message.arguments(Variant<[String: UInt32]>.self)
        case 17: _ = try? message.arguments(UnixDescriptor.self, [UnixDescriptor].self)
        default:
            // Whether it knows the user depends on the contents.
            var reader = MessageReader(readingFrom: message.pointer)
            _ = try? reader.next(CredentialEntries.self)
        }
    }

    /// Reads all arguments as one of a type, which succeeds if it is of that type, and the first
    /// one without a look at the types of all, which may fail half-way.
    private static func read<Content: DBusDecodable>(
        _ message: borrowing Message,
        _ type: Content.Type
    ) throws {
        if message.signature == type.signature {
            _ = try message.arguments(type)
        } else {
            _ = try? message.arguments(type)
            var reader = MessageReader(readingFrom: message.pointer)
            _ = try? reader.next(type)
        }
    }
}
