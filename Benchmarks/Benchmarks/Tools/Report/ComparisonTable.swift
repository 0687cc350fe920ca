import Samples

/// The table of one comparison: a line for each side.
enum ComparisonTable {
    private static let widths = [24, 26, 14, 10, 10, 10, 8, 9, 10, 0]

    /// - Returns: Its limits.
    static func print(_ outcome: Outcome) -> [Limit] {
        guard let first = outcome.sides.first else { return [] }
        let title = "\(outcome.subject), \(outcome.scale)"
        Line.print(
            [
                title, "side", "survives", "median", "p99.9", "max", "samples", "allocs", "first ÷",
                "limit",
            ],
            widths
        )
        var limits: [Limit] = []
        let ours = Distribution(first.samples).median
        for side in outcome.sides {
            if let reason = side.notRun {
                Line.print(["", side.name, "not run: \(reason)"], [widths[0], widths[1], 0])
                continue
            }
            let samples = Distribution(side.samples)
            let tail = side.tail.isEmpty ? samples : Distribution(side.tail)
            let ratio = ours / samples.median
            var verdict = ""
            if let limit = side.limit {
                let isMet = ratio <= limit
                verdict = "≤ \(Line.number(limit)) \(isMet ? "met" : "NOT MET")"
                limits.append(
                    Limit(
                        title:
                            """
                            \(outcome.work.title), \(title): \(Line.number(ratio)) × \(side.name), \
                            limit \(Line.number(limit))
                            """,
                        isMet: isMet
                    )
                )
            }
            if side.name == first.name, let limit = outcome.limit {
                let isMet = ours <= limit
                verdict = "≤ \(Line.time(limit)) \(isMet ? "met" : "NOT MET")"
                limits.append(
                    Limit(
                        title:
                            """
                            \(outcome.work.title), \(title): \(Line.time(ours)), limit \
                            \(Line.time(limit))
                            """,
                        isMet: isMet
                    )
                )
            }
            if outcome.unallocating.contains(side.name) {
                let isMet = Distribution(side.allocations).median == 0
                verdict +=
                    (verdict.isEmpty ? "" : ", ") + "no allocation \(isMet ? "met" : "NOT MET")"
                limits.append(
                    Limit(
                        title: "\(outcome.work.title), \(title): \(side.name), no allocation",
                        isMet: isMet
                    )
                )
            }
            // Printed as what it is, also where nothing is promised.
            if ratio > 1 { verdict += (verdict.isEmpty ? "" : ", ") + "slower" }
            let allocations = Line.number(Distribution(side.allocations).median)
            Line.print(
                [
                    "", side.name, side.durability ?? "", Line.time(samples.median),
                    Line.time(tail.p999), Line.time(tail.maximum),
                    "\(tail.count)", allocations,
                    side.name == first.name ? "" : Line.number(ratio), verdict,
                ],
                widths
            )
        }
        limits += printBytes(of: outcome, title)
        for ratio in outcome.ratios { limits += print(ratio, of: outcome, title) }
        for increment in outcome.increments { limits += print(increment, of: outcome, title) }
        return limits
    }

    /// A line for the encoded size of one object on each side.
    private static func printBytes(of outcome: Outcome, _ title: String) -> [Limit] {
        guard let first = outcome.sides.first, let ours = first.bytes else { return [] }
        var limits: [Limit] = []
        for side in outcome.sides {
            guard let bytes = side.bytes else { continue }
            let ratio = ours / bytes
            let times = side.name == first.name ? "" : ", first \(Line.number(ratio)) × of it"
            limits += print(
                "\(side.name): \(Line.number(bytes)) bytes\(times)",
                title,
                of: outcome,
                ratio,
                side.limitOfBytes,
                Line.number
            )
        }
        return limits
    }

    /// A line for the ratio of two sides other than the first.
    private static func print(
        _ ratio: Outcome.Ratio,
        of outcome: Outcome,
        _ title: String
    ) -> [Limit] {
        let medians = [ratio.ours, ratio.theirs].map {
            Distribution(outcome.side($0)?.samples ?? []).median
        }
        let value = medians[0] / medians[1]
        let line = "\(ratio.ours): \(Line.number(value)) × \(ratio.theirs)"
        return print(line, title, of: outcome, value, ratio.limit, Line.number)
    }

    /// A line for the cost that a feature adds, to the first side and to another, or by itself.
    private static func print(
        _ increment: Outcome.Increment,
        of outcome: Outcome,
        _ title: String
    ) -> [Limit] {
        let ours = outcome.difference(increment.ours)
        guard !increment.theirs.isEmpty else {
            let line = "\(increment.title): + \(Line.time(ours)) to \(increment.ours[0])"
            return print(line, title, of: outcome, ours, increment.nanoseconds, Line.time)
        }
        let theirs = outcome.difference(increment.theirs)
        let ratio = ours / theirs
        let line =
            """
            \(increment.title): + \(Line.time(ours)), + \(Line.time(theirs)) to \
            \(increment.theirs[0]): \(Line.number(ratio)) ×
            """
        return print(line, title, of: outcome, ratio, increment.limit, Line.number)
    }

    /// A line below the sides, with the limit of its value.
    private static func print(
        _ line: String,
        _ title: String,
        of outcome: Outcome,
        _ value: Double,
        _ limit: Double?,
        _ format: (Double) -> String
    ) -> [Limit] {
        guard let limit else {
            Line.print(["", line], [widths[0], 0])
            return []
        }
        let isMet = value <= limit
        Line.print(
            ["", line + "  ≤ \(format(limit)) \(isMet ? "met" : "NOT MET")"],
            [widths[0], 0]
        )
        return [
            Limit(
                title: "\(outcome.work.title), \(title): \(line), limit \(format(limit))",
                isMet: isMet
            )
        ]
    }
}
