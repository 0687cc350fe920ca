import Samples

/// The table of the figures.
enum FigureTable {
    private static let widths = [88, 14, 0]

    /// - Returns: Their limits.
    static func print(_ figures: [Figure]) -> [Limit] {
        guard !figures.isEmpty else { return [] }
        Swift.print("\nProcesses of their own")
        var limits: [Limit] = []
        for figure in figures {
            let value = "\(Line.number(figure.value)) \(figure.unit)"
            var verdict = ""
            if let limit = figure.limit {
                let isMet = figure.value <= limit
                verdict = "≤ \(Line.number(limit)) \(isMet ? "met" : "NOT MET")"
                limits.append(Limit(title: "\(figure.title): \(value)", isMet: isMet))
            }
            Line.print([figure.title, value, verdict], widths)
        }
        return limits
    }
}
