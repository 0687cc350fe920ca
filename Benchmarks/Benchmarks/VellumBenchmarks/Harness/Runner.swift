import Benchmark
import Foundation
import Samples

/// Runs one comparison as one benchmark of the tool: each iteration is a round in which every side
/// has its turn.
///
/// The measurements go to the tool as a metric for each side, so that its baselines and thresholds
/// work, and to the workspace, where the report finds them.
final class Runner {
    private let comparison: Comparison
    private let workspace = Workspace()
    private var course: Course?
    private var outcome: Outcome

    init(_ comparison: Comparison) {
        self.comparison = comparison
        let measured = comparison.sides.map { name, limit in
            let durability = comparison.durability[name] ?? comparison.work.durability
            return Outcome.Side(
                name: name,
                durability: durability,
                limit: limit,
                limitOfBytes: comparison.limitsOfBytes[name]
            )
        }
        let notRun = comparison.notRun.sorted { $0.key < $1.key }.map {
            Outcome.Side(name: $0.key, notRun: $0.value)
        }
        outcome = Outcome(
            work: comparison.work,
            subject: comparison.subject,
            scale: comparison.scale.title,
            sides: measured + notRun,
            limit: comparison.limit,
            increments: comparison.increments,
            ratios: comparison.ratios,
            unallocating: comparison.unallocating
        )
    }

    static func register(_ comparison: Comparison) {
        let runner = Runner(comparison)
        let isQuick = runner.workspace.isQuick
        let name = "\(comparison.work.rawValue), \(comparison.subject), \(comparison.scale.title)"
        let configuration = Benchmark.Configuration(
            metrics: comparison.sides.map { .custom($0.name) },
            warmupIterations: 0,
            maxDuration: .seconds(isQuick ? comparison.seconds / 3 : comparison.seconds),
            maxIterations: comparison.rounds
        )
        Benchmark(
            name,
            configuration: configuration,
            closure: { benchmark in try runner.round(benchmark) },
            setup: { try runner.setUp() },
            teardown: { try runner.tearDown() }
        )
    }

    private func setUp() throws {
        let course = try comparison.prepare(workspace)
        self.course = course
        for (index, bytes) in course.bytes.enumerated() { outcome.sides[index].bytes = bytes }
        // Warms up: statements are prepared, pages cached and files grown.
        for round in 0..<warmUps {
            try course.begin(round)
            for turn in course.turns {
                _ = try turn.measure()
                try turn.undo()
            }
        }
    }

    private var warmUps: Int { min(50, comparison.rounds / 20 + 1) }

    private func round(_ benchmark: Benchmark) throws {
        guard let course else { return }
        let number = benchmark.currentIteration
        try course.begin(number + warmUps)
        for index in order(number, course.turns.count) {
            let turn = course.turns[index]
            guard number.isMultiple(of: turn.every) else { continue }
            let reading = try turn.measure()
            let operations = Double(comparison.batch)
            benchmark.measurement(
                .custom(comparison.sides[index].name),
                Int(Double(reading.nanoseconds) / operations)
            )
            outcome.sides[index].samples.append(Double(reading.nanoseconds) / operations)
            if let allocations = reading.allocations {
                outcome.sides[index].allocations.append(Double(allocations) / operations)
            }
            if let tail = turn.tail { outcome.sides[index].tail += try tail() }
            try turn.undo()
        }
    }

    /// A random order: all orders are equally likely.
    private func order(_ round: Int, _ count: Int) -> [Int] {
        var numbers = Numbers(seed: UInt64(round))
        return (0..<count).shuffled(using: &numbers)
    }

    private func tearDown() throws {
        try course?.end()
        course = nil
        try workspace.write(outcome)
    }
}
