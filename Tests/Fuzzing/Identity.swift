// SPDX-License-Identifier: Apache-2.0

package import DBus

extension Value {
    /// Whether two values are the same bits on the bus.
    ///
    /// Their `==` is of Swift: no NaN is itself, the two zeros are one, and so are a letter with an
    /// accent and a letter followed by its accent.
    package func isIdentical(to other: Value) -> Bool {
        switch (self, other) {
        case (.double(let left), .double(let right)): left.bitPattern == right.bitPattern
        case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
        case (.variant(let left), .variant(let right)): left.isIdentical(to: right)
        case (.structure(let left), .structure(let right)): left.isIdentical(to: right)
        case (.array(let left, let leftElements), .array(let right, let rightElements)):
            left == right && leftElements.isIdentical(to: rightElements)
        case (.dictionary(_, _, let left), .dictionary(_, _, let right)):
            signature == other.signature
                && left.map(\.key).isIdentical(to: right.map(\.key))
                && left.map(\.value).isIdentical(to: right.map(\.value))
        default: self == other
        }
    }
}

extension [Value] {
    /// Whether all are the same bits on the bus as those of another list.
    package func isIdentical(to other: [Value]) -> Bool {
        count == other.count && zip(self, other).allSatisfy { $0.isIdentical(to: $1) }
    }
}
