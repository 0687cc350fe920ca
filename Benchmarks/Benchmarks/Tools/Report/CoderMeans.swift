import Foundation
import Samples

/// The speedup of the first coder over each other one, as the geometric mean of all subjects.
enum CoderMeans {
    private static let widths = [48, 12, 12, 12, 0]
    /// The smallest speedup allowed over this side, encoding and decoding together, and the number
    /// of comparisons that it requires.
    private static let promise = (side: "JSON", times: 4.0, comparisons: 12)

    /// - Returns: Their limits.
    static func print(_ outcomes: [Outcome]) -> [Limit] {
        let (encoding, decoding) = (
            outcomes.filter { $0.work == .coderEncode }, outcomes.filter { $0.work == .coderDecode }
        )
        let both = encoding + decoding
        guard let sides = both.first?.sides, let first = sides.first else { return [] }
        Swift.print("\nCoders: geometric means of \(encoding.count) and \(decoding.count) subjects")
        Line.print(["side ÷ \(first.name)", "encode", "decode", "both", "limit"], widths)
        var limits: [Limit] = []
        for side in sides.dropFirst() {
            let mean = mean(both, of: side.name)
            var verdict = ""
            // The limit applies to the mean of all subjects, not of some.
            if side.name == promise.side, both.count == promise.comparisons {
                let isMet = mean >= promise.times
                verdict = "≥ \(Line.number(promise.times)) \(isMet ? "met" : "NOT MET")"
                let title =
                    """
                    Coders, geometric mean: \(Line.number(mean)) × as fast as \(side.name), limit \
                    \(Line.number(promise.times))
                    """
                limits.append(Limit(title: title, isMet: isMet))
            }
            let means = [
                self.mean(encoding, of: side.name), self.mean(decoding, of: side.name), mean,
            ]
            Line.print([side.name] + means.map(Line.number) + [verdict], widths)
        }
        return limits
    }

    private static func mean(_ outcomes: [Outcome], of name: String) -> Double {
        let logarithms = outcomes.map { outcome in
            let samples = [outcome.side(name)?.samples ?? [], outcome.sides.first?.samples ?? []]
            return log(Distribution(samples[0]).median / Distribution(samples[1]).median)
        }
        return exp(logarithms.reduce(0, +) / Double(logarithms.count))
    }
}
