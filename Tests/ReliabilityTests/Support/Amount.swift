import Foundation

/// The number of cases to try: a fixed number in every run, or all if the environment says `all`.
struct Amount {
    let limit: Int

    init(limit: Int) { self.limit = limit }

    init(_ variable: String, usually count: Int) {
        let said = ProcessInfo.processInfo.environment[variable]
        limit = said == "all" ? .max : said.flatMap(Int.init) ?? count
    }

    /// Whether the figures of this run should be printed.
    static func isFull(_ variable: String) -> Bool {
        ProcessInfo.processInfo.environment[variable] != nil
    }

    /// Evenly spread numbers below `count`, including the first and the last.
    func sample(below count: Int) -> [Int] {
        guard count > limit else { return Array(0..<max(0, count)) }
        guard limit > 1 else { return [0] }
        return (0..<limit).map { $0 * (count - 1) / (limit - 1) }
    }
}
