// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Positioning

@Suite struct BackOffTests {
    @Test func `a wait doubles from half a second up to ten seconds`() {
        var backOff = BackOff()
        let waits = (0..<8).map { _ in backOff.next() }
        #expect(waits == [0.5, 1, 2, 4, 8, 10, 10, 10].map { Duration.seconds($0) })
    }

    @Test func `after a success it begins anew`() {
        var backOff = BackOff()
        for _ in 0..<5 { _ = backOff.next() }
        backOff.reset()
        #expect(backOff.next() == .milliseconds(500))
        #expect(backOff.next() == .seconds(1))
    }
}

@Suite struct LineBufferTests {
    private func lines(_ pieces: [String], limit: Int = 8) -> [String] {
        var buffer = LineBuffer(limit: limit)
        var lines: [String] = []
        for piece in pieces {
            buffer.append(Array(piece.utf8)[...]) {
                lines.append(String(decoding: $0, as: UTF8.self))
            }
        }
        return lines
    }

    @Test(arguments: [
        (["one\ntwo\n"], ["one", "two"]),
        (["one\r\n", "two\r\n"], ["one", "two"]),
        (["o", "n", "e", "\r", "\n"], ["one"]),
        (["one\ntw", "o\nthr"], ["one", "two"]),
        (["\n\r\n\n"], ["", "", ""]),
        (["a\rb\n"], ["a\rb"]),
        (["12345678\n"], ["12345678"]),
        (["123456789\nnext\n"], ["next"]),
        (["12345", "6789", "0", "\nnext\n"], ["next"]),
        (["123456789", "123456789", "\n", "next\n"], ["next"]),
        ([""], []),
    ])
    func `bytes are cut into lines, and what is too long is passed over`(
        pieces: [String],
        expected: [String]
    ) {
        #expect(lines(pieces) == expected)
    }

    @Test func `however a text is cut, its lines are the same`() {
        let text = Array("a\nbb\r\n\nccc\n123456789\nd\n".utf8)
        for first in 0...text.count {
            for second in first...text.count {
                let pieces = [text[..<first], text[first..<second], text[second...]]
                let cut = lines(pieces.map { String(decoding: $0, as: UTF8.self) })
                #expect(cut == ["a", "bb", "", "ccc", "d"])
            }
        }
    }
}
