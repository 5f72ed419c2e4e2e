// SPDX-License-Identifier: Apache-2.0

internal import EventLoop

extension Interface.Member {
    /// A method whose types are only known while the program runs: for mocks and bridges.
    ///
    /// ```swift
    /// .dynamicMethod("Repeat", in: ["text": "s", "times": "u"], out: ["all": "as"]) { _, values in
    ///     [.array(of: "s", Array(repeating: values[0], count: values[1].integer ?? 0))]
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - inputs: The names of its arguments and their types, each a single one.
    ///   - outputs: The names of its results and their types.
    ///   - body: Takes the call and its arguments, which are of the types, and returns the
    ///     results, which have to be. What it throws is the answer.
    /// - Returns: A member for the table.
    public static func dynamicMethod(
        _ name: MemberName,
        in inputs: KeyValuePairs<String, Signature> = [:],
        out outputs: KeyValuePairs<String, Signature> = [:],
        _ body: @escaping @LoopActor (Call, [Value]) async throws -> [Value]
    ) -> Self {
        let (inputs, outputs) = (Argument.list(inputs), Argument.list(outputs))
        let expected = inputs.map(\.signature.string).joined()
        let announced = outputs.map(\.signature.string).joined()
        let method = Method(name: name, inputs: inputs, outputs: outputs) { call, message, answer in
            do {
                try message.expect(expected)
                let arguments = try message.values()
                answer.order.start(call) {
                    do {
                        answer.succeed(values: try await body(call, arguments), as: announced)
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
}

extension Argument {
    fileprivate static func list(_ pairs: KeyValuePairs<String, Signature>) -> [Argument] {
        pairs.map { name, type in
            precondition(type.isSingle, "“\(type)” is not one type")
            return Argument(name: name, signature: type)
        }
    }
}
