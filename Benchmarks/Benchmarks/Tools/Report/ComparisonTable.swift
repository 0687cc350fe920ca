import Samples

/// The table of one comparison: a line for each side.
enum ComparisonTable {
    private static let widths = [24, 26, 10, 10, 10, 8, 9, 10, 0]

    /// - Returns: What was promised of it.
    static func print(_ outcome: Outcome) -> [Limit] {
        guard let vellum = outcome.sides.first else { return [] }
        let title = "\(outcome.subject), \(outcome.scale)"
        Line.print([title, "side", "median", "p99.9", "max", "samples", "allocs", "Vellum ÷", "limit"], widths)
        var limits: [Limit] = []
        let ours = Distribution(vellum.samples).median
        for side in outcome.sides {
            let samples = Distribution(side.samples)
            let tail = side.tail.isEmpty ? samples : Distribution(side.tail)
            let ratio = ours / samples.median
            var verdict = ""
            if let limit = side.limit {
                let isMet = ratio <= limit
                verdict = "≤ \(Line.number(limit)) \(isMet ? "met" : "NOT MET")"
                limits.append(
                    Limit(title: "\(outcome.work.title), \(title): \(Line.number(ratio)) × \(side.name), limit \(limit)", isMet: isMet))
            }
            if side.name == vellum.name, let limit = outcome.limit {
                let isMet = ours <= limit
                verdict = "≤ \(Line.time(limit)) \(isMet ? "met" : "NOT MET")"
                limits.append(Limit(title: "\(outcome.work.title), \(title): \(Line.time(ours)), limit \(Line.time(limit))", isMet: isMet))
            }
            if side.name == vellum.name, outcome.work == .memoryHit {
                let isMet = Distribution(side.allocations).median == 0
                verdict = "no allocation \(isMet ? "met" : "NOT MET")"
                limits.append(Limit(title: "\(outcome.work.title), \(title): no allocation", isMet: isMet))
            }
            let allocations = Line.number(Distribution(side.allocations).median)
            Line.print(
                [
                    "", side.name, Line.time(samples.median), Line.time(tail.p999), Line.time(tail.maximum), "\(tail.count)", allocations,
                    side.name == vellum.name ? "" : Line.number(ratio), verdict,
                ], widths)
        }
        for increment in outcome.increments { limits += print(increment, of: outcome, title) }
        return limits
    }

    /// A line for what something adds to Vellum and to another side.
    private static func print(_ increment: Outcome.Increment, of outcome: Outcome, _ title: String) -> [Limit] {
        let (ours, theirs) = (outcome.difference(increment.ours), outcome.difference(increment.theirs))
        let ratio = ours / theirs
        var line = "\(increment.title): + \(Line.time(ours)), + \(Line.time(theirs)) to \(increment.theirs[0]): \(Line.number(ratio)) ×"
        guard let limit = increment.limit else {
            Line.print(["", line], [widths[0], 0])
            return []
        }
        let isMet = ratio <= limit
        line += "  ≤ \(Line.number(limit)) \(isMet ? "met" : "NOT MET")"
        Line.print(["", line], [widths[0], 0])
        let promise = "\(outcome.work.title), \(title): \(increment.title), \(Line.number(ratio)) × \(increment.theirs[0]), limit \(limit)"
        return [Limit(title: promise, isMet: isMet)]
    }
}
