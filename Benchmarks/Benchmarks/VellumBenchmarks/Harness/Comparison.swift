import Benchmark
import Samples

/// Several implementations of the same work, measured alternately in one process.
struct Comparison {
    var work: Work
    var subject: String
    var scale: Scale
    /// The names of the sides, ours first, and the limits of the first side's time divided by
    /// theirs.
    var sides: [(name: String, limit: Double?)]
    /// The limit of the first side's median in nanoseconds.
    var limit: Double?
    /// The limits of differences between sides.
    var increments: [Outcome.Increment] = []
    /// The limits of ratios between sides other than the first.
    var ratios: [Outcome.Ratio] = []
    /// The names of the sides that may not allocate anything.
    var unallocating: [String] = []
    /// The limits of the first side's encoded size divided by that of each side, by name.
    var limitsOfBytes: [String: Double] = [:]
    /// What survives of each side's write, by name, if it is not what the work says.
    var durability: [String: String] = [:]
    /// The sides that are not measured in this run, by name, and why.
    var notRun: [String: String] = [:]
    /// The number of operations of one measured call.
    var batch = 1
    var rounds = 2000
    var seconds = 4.0
    /// Prepares the comparison. Not measured.
    var prepare: (Workspace) throws -> Course
}

/// The number of entries.
enum Scale: Int {
    case thousand = 1000
    case tenThousand = 10_000
    case twentyThousand = 20_000
    /// Every airport of the list.
    case airports = 28_298
    case hundredThousand = 100_000
    case million = 1_000_000
    case threeMillion = 3_000_000
    case hundred = 100
    case eight = 8

    var title: String {
        switch self {
        case .threeMillion: "3 M"
        case .million: "1 M"
        case .hundredThousand: "100 k"
        case .airports: "28 k"
        case .twentyThousand: "20 k"
        case .tenThousand: "10 k"
        case .thousand: "1 k"
        case .hundred, .eight: "\(rawValue)"
        }
    }
}

/// A running comparison: the work of each side in a round.
struct Course {
    /// In the order of the comparison's sides.
    var turns: [Turn]
    /// The encoded size of one object on each side, if sizes are compared.
    var bytes: [Double] = []
    /// Chooses the objects of this round. Not measured.
    var begin: (_ round: Int) throws -> Void = { _ in }
    /// Releases everything.
    var end: () throws -> Void = {}
}

/// The work of one side.
struct Turn {
    /// Does the work, and measures it.
    let measure: () throws -> Stopwatch.Reading
    /// The same operations timed one by one, if the work is a batch.
    let tail: (() throws -> [Double])?
    /// Has a turn in every nth round: more than 1 for work so long that it would evict the others'
    /// processor caches.
    var every = 1
    /// Undoes the work before the next turn. Not measured.
    let undo: () throws -> Void

    /// - Parameter prepare: Chooses what the turn works on. Not measured.
    init(prepare: @escaping () -> Void, _ run: @escaping () throws -> Void) {
        measure = {
            prepare()
            return try Stopwatch.time(run)
        }
        tail = nil
        undo = {}
    }

    init(run: @escaping () throws -> Void, undo: @escaping () throws -> Void = {}) {
        measure = { try Stopwatch.time(run) }
        tail = nil
        self.undo = undo
    }

    init(_ run: @escaping () throws -> Void, tail: @escaping () throws -> [Double]) {
        measure = { try Stopwatch.time(run) }
        self.tail = tail
        undo = {}
    }

    /// Creates asynchronous work, measured inside one task.
    ///
    /// - Parameter prepare: Returns the work of this turn. Not measured.
    static func inTask(
        _ prepare: @escaping () -> Stopwatch.AwaitedWork,
        tail: (() throws -> [Double])? = nil
    ) -> Turn {
        Turn(measure: { try Stopwatch.time(inTask: prepare()) }, tail: tail)
    }

    private init(measure: @escaping () throws -> Stopwatch.Reading, tail: (() throws -> [Double])?)
    {
        self.measure = measure
        self.tail = tail
        undo = {}
    }

    func once(in rounds: Int) -> Turn {
        var turn = self
        turn.every = rounds
        return turn
    }
}
