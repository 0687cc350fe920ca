import Foundation
import Samples

/// What a run measured, as the pictures are drawn from it: a median where the workspace has all
/// samples.
struct Summary: Codable {
    var machine: Machine
    var isQuick: Bool
    /// The comparisons that were selected; `nil` if all were.
    var filter: String?
    var comparisons: [Comparison] = []
    var histograms: [Histogram] = []
    var figures: [Figure]
    var limits: [Limit]

    /// The summary of one comparison. Times are in nanoseconds.
    struct Comparison: Codable {
        var work: Work
        var title, subject, scale: String
        var sides: [Side]
    }

    struct Side: Codable {
        var name: String
        var durability, notRun: String?
        var median, p999, maximum: Double?
        var count: Int?
        /// The time of the first side divided by this side's, and its limit.
        var ratio, limit: Double?
    }

    /// How many turns took how long, in classes of equal width on a logarithmic axis.
    struct Histogram: Codable {
        static let classesPerDecade = 12.0

        var work: Work
        var title, subject, scale: String
        var sides: [Side]

        struct Side: Codable {
            var name: String
            var p999, maximum: Double
            /// The least time of each class.
            var from: [Double]
            var counts: [Int]
        }
    }

    init(_ workspace: Workspace, _ outcomes: [Outcome], _ figures: [Figure], _ limits: [Limit]) {
        machine = Machine()
        isQuick = workspace.isQuick
        filter = ProcessInfo.processInfo.environment["VELLUM_BENCH_FILTER"]
        (self.figures, self.limits) = (figures, limits)
        for work in Work.allCases {
            for outcome in outcomes where outcome.work == work {
                comparisons.append(Self.comparison(outcome))
                if [.recordNew, .recordOver].contains(work), outcome.subject == "six fields" {
                    histograms.append(Self.histogram(outcome))
                }
            }
        }
    }

    func write(to file: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try encoder.encode(self).write(to: file)
    }

    static func ratio(of first: Outcome.Side, to side: Outcome.Side) -> Double {
        Distribution(first.samples).median / Distribution(side.samples).median
    }

    private static func comparison(_ outcome: Outcome) -> Comparison {
        let sides = outcome.sides.enumerated().map { index, side in
            guard side.notRun == nil, !side.samples.isEmpty else {
                return Side(name: side.name, notRun: side.notRun ?? "no turn")
            }
            let samples = Distribution(side.samples)
            let tail = side.tail.isEmpty ? samples : Distribution(side.tail)
            return Side(
                name: side.name,
                durability: side.durability,
                median: rounded(samples.median),
                p999: rounded(tail.p999),
                maximum: rounded(tail.maximum),
                count: samples.count,
                ratio: index == 0 ? nil : rounded(ratio(of: outcome.sides[0], to: side)),
                limit: side.limit
            )
        }
        return Comparison(
            work: outcome.work,
            title: outcome.work.title,
            subject: outcome.subject,
            scale: outcome.scale,
            sides: sides
        )
    }

    private static func histogram(_ outcome: Outcome) -> Histogram {
        let sides = outcome.sides.filter { $0.notRun == nil && !$0.samples.isEmpty }.map { side in
            let classes = Dictionary(grouping: side.samples) {
                Int((log10(max($0, 1)) * Histogram.classesPerDecade).rounded(.down))
            }
            let samples = Distribution(side.samples)
            let numbers = classes.keys.sorted()
            return Histogram.Side(
                name: side.name,
                p999: rounded(samples.p999),
                maximum: rounded(samples.maximum),
                from: numbers.map { rounded(pow(10, Double($0) / Histogram.classesPerDecade)) },
                counts: numbers.map { classes[$0]?.count ?? 0 }
            )
        }
        return Histogram(
            work: outcome.work,
            title: outcome.work.title,
            subject: outcome.subject,
            scale: outcome.scale,
            sides: sides
        )
    }

    /// Four significant digits.
    private static func rounded(_ value: Double) -> Double {
        guard value.isFinite, value != 0 else { return 0 }
        let scale = pow(10, 3 - log10(abs(value)).rounded(.down))
        return (value * scale).rounded() / scale
    }
}

/// What the run was made on.
struct Machine: Codable {
    var processor = Self.nameOfProcessor()
    var cores = ProcessInfo.processInfo.activeProcessorCount
    var system = Self.nameOfSystem()
    var swift = ProcessInfo.processInfo.environment["VELLUM_BENCH_SWIFT"] ?? ""
    /// The commit that was measured; empty if that is unknown.
    var commit = ProcessInfo.processInfo.environment["VELLUM_BENCH_COMMIT"] ?? ""
    /// How many threads wanted to run in the last fifteen minutes, on average: one of them is the
    /// run's.
    var load = Self.meanLoad()
    var date = Date().formatted(.iso8601.year().month().day())

    private static func nameOfProcessor() -> String {
        #if os(Linux)
            return line(of: "/proc/cpuinfo", "model name", ":") ?? "unknown processor"
        #else
            var size = 0
            sysctlbyname("machdep.cpu.brand_string", nil, &size, nil, 0)
            var name = [UInt8](repeating: 0, count: size)
            sysctlbyname("machdep.cpu.brand_string", &name, &size, nil, 0)
            return String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
        #endif
    }

    private static func nameOfSystem() -> String {
        let name = line(of: "/etc/os-release", "PRETTY_NAME", "=")?.replacing("\"", with: "")
        return name ?? ProcessInfo.processInfo.operatingSystemVersionString
    }

    private static func meanLoad() -> Double? {
        var loads = [0.0, 0, 0]
        return getloadavg(&loads, 3) == 3 ? (loads[2] * 10).rounded() / 10 : nil
    }

    /// What stands after the separator in the first line of a file that begins with a name.
    private static func line(of file: String, _ name: String, _ separator: String) -> String? {
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else { return nil }
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        return line?.split(separator: separator, maxSplits: 1).last?.trimmingCharacters(
            in: .whitespaces
        )
    }
}
