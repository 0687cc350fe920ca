import Foundation

/// How much of what could be tried is tried: so much in every run, everything where the environment says `all`.
struct Amount {
    let limit: Int

    init(limit: Int) { self.limit = limit }

    init(_ variable: String, usually count: Int) {
        let said = ProcessInfo.processInfo.environment[variable]
        limit = said == "all" ? .max : said.flatMap(Int.init) ?? count
    }

    /// Whether this is a run whose figures are worth telling.
    static func isFull(_ variable: String) -> Bool { ProcessInfo.processInfo.environment[variable] != nil }

    /// So many of the numbers below `count`, evenly spread, the first and the last among them.
    func sample(below count: Int) -> [Int] {
        guard count > limit else { return Array(0..<max(0, count)) }
        guard limit > 1 else { return [0] }
        return (0..<limit).map { $0 * (count - 1) / (limit - 1) }
    }
}
