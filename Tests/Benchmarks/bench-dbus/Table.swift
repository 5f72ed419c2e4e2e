// SPDX-License-Identifier: Apache-2.0

import EventLoop

/// The rounds of both sides, in the order in which they were measured.
struct Sides {
    private(set) var wrapper: [Round] = []
    private(set) var reference: [Round] = []

    /// Measures a round of each side that there is.
    @LoopActor mutating func measure(
        _ wrapper: MeasuredService,
        _ reference: MeasuredService?,
        _ round: (MeasuredService) throws -> Round
    ) throws {
        self.wrapper.append(try round(wrapper))
        if let reference { self.reference.append(try round(reference)) }
    }
}

/// One line of the table.
struct Row {
    /// What is wanted of the ratio of the wrapper's figure to the reference's.
    enum Target {
        case atLeast(Double)
        case atMost(Double)
    }

    /// What became of it.
    enum Verdict: String {
        case met = "ok"
        case missed = "MISSED"
        case skipped = "skipped"
    }

    /// How much a service may grow behind its warm-up, in kB.
    private static let growthLimit = 128

    let cells: [String]
    let verdict: Verdict

    /// Compares the medians of a figure.
    ///
    /// - Parameters:
    ///   - what: What is compared.
    ///   - sides: The rounds of both sides.
    ///   - digits: How many decimals are shown.
    ///   - target: What is wanted of the ratio.
    ///   - figure: Takes the figure from a round.
    init(
        _ what: String,
        _ sides: Sides,
        digits: Int,
        target: Target,
        _ figure: (Round) -> Double
    ) {
        let wrapper = sides.wrapper.map(figure)
        let reference = sides.reference.map(figure)
        let wanted =
            switch target {
            case .atLeast(let limit): ">= \(fixed(limit, 2))"
            case .atMost(let limit): "<= \(fixed(limit, 2))"
            }
        guard !reference.isEmpty else {
            cells = [what, fixed(median(wrapper), digits), "-", "-", "-", wanted]
            verdict = .skipped
            return
        }
        let ratio = median(wrapper) / median(reference)
        let ratios = zip(wrapper, reference).map { $0 / $1 }
        cells = [
            what, fixed(median(wrapper), digits), fixed(median(reference), digits),
            fixed(ratio, 2), "\(fixed(ratios.min() ?? 0, 2))-\(fixed(ratios.max() ?? 0, 2))",
            wanted,
        ]
        verdict =
            switch target {
            case .atLeast(let limit): ratio >= limit ? .met : .missed
            case .atMost(let limit): ratio <= limit ? .met : .missed
            }
    }

    /// Tells how memory has grown.
    init(memory kind: String, _ before: Int, _ warm: Int, _ after: Int) {
        cells = [
            "\(kind), kB: 0 / 100,000 / 1,000,000 calls",
            "\(before) / \(warm) / \(after)", "-", "+\(after - warm)", "-",
            "<= +\(Self.growthLimit)",
        ]
        verdict = after - warm <= Self.growthLimit ? .met : .missed
    }
}

/// All lines, with a heading.
struct Table {
    let rows: [Row]

    private static let heading = ["", "wrapper", "floor.c", "ratio", "of rounds", "target", ""]

    /// Prints the lines in columns.
    func print() {
        let lines = [Self.heading] + rows.map { $0.cells + [$0.verdict.rawValue] }
        let widths = Self.heading.indices.map { column in
            lines.map { $0[column].count }.max() ?? 0
        }
        for line in lines {
            let cells = zip(line, widths).enumerated().map { column, cell in
                let padding = String(repeating: " ", count: cell.1 - cell.0.count)
                let isText = column == 0 || column == line.count - 1
                return isText ? cell.0 + padding : padding + cell.0
            }
            Swift.print(trimmed(cells.joined(separator: "  ")))
        }
        Swift.print(
            """

            wrapper and floor.c: medians of the rounds; of rounds: least and greatest ratio.
            A signal: the wrapper writes one message and sends a copy of it to each client; floor.c
            writes a message for each client, with a path and arguments of its own.
            Memory: growth from 100,000 to 1,000,000 calls.
            """
        )
    }

    private func trimmed(_ line: String) -> String {
        String(line.reversed().drop { $0 == " " }.reversed())
    }
}

/// The middle one of some figures.
func median(_ figures: [Double]) -> Double {
    let sorted = figures.sorted()
    guard !sorted.isEmpty else { return .nan }
    return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
}

/// A number with so many decimals.
func fixed(_ number: Double, _ digits: Int) -> String {
    guard number.isFinite else { return "\(number)" }
    let scale = (0..<digits).reduce(1) { scale, _ in scale * 10 }
    let scaled = Int((number * Double(scale)).rounded())
    let whole = grouped(scaled / scale)
    guard digits > 0 else { return whole }
    let fraction = String(scaled % scale)
    return whole + "." + String(repeating: "0", count: digits - fraction.count) + fraction
}

/// A number that is not negative, with commas between its thousands.
func grouped(_ number: Int) -> String {
    guard number >= 1000 else { return "\(number)" }
    let rest = String(number % 1000)
    return grouped(number / 1000) + "," + String(repeating: "0", count: 3 - rest.count) + rest
}
