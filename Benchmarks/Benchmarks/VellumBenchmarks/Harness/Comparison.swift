import Benchmark
import Samples

/// Several ways to do the same work, measured by turns in one process.
struct Comparison {
    var work: Work
    var subject: String
    var scale: Scale
    /// The names of the sides, ours first, and how many times as long as each the first may take.
    var sides: [(name: String, limit: Double?)]
    /// How many nanoseconds the first may take at the median, whatever the others take.
    var limit: Double?
    /// What is asked of differences between sides.
    var increments: [Outcome.Increment] = []
    /// What is asked of sides beside sides other than the first.
    var ratios: [Outcome.Ratio] = []
    /// The names of the sides that may not allocate anything.
    var unallocating: [String] = []
    /// How many times as many bytes as each side the first may make, by their names.
    var limitsOfBytes: [String: Double] = [:]
    /// How many operations one measured call makes.
    var batch = 1
    var rounds = 2000
    var seconds = 4.0
    /// Makes everything ready, outside of what is measured.
    var prepare: (Desk) throws -> Course
}

/// How many entries there are.
enum Scale: Int {
    case thousand = 1000
    case tenThousand = 10_000
    case twentyThousand = 20_000
    /// Every airport of the list.
    case airports = 28_298
    case hundredThousand = 100_000
    case million = 1_000_000
    case hundred = 100
    case eight = 8

    var title: String {
        switch self {
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

/// A comparison under way: what each side does in a round.
struct Course {
    /// In the order of the comparison's sides.
    var turns: [Turn]
    /// How many bytes each side makes of one object, where that is compared, too.
    var bytes: [Double] = []
    /// Chooses what all sides work on in this round. Not measured.
    var begin: (_ round: Int) throws -> Void = { _ in }
    /// Lets go of everything.
    var end: () throws -> Void = {}
}

/// What one side does.
struct Turn {
    /// Does the work, and measures it.
    let measure: () throws -> Stopwatch.Reading
    /// The same operations timed one by one, where the work is a batch.
    let tail: (() throws -> [Double])?
    /// In how many rounds it has one turn: more than one for work that takes so long that it would cool the others' caches.
    var every = 1
    /// What is to be undone before the next turn. Not measured.
    let undo: () throws -> Void

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

    /// Work that is awaited, measured inside one task.
    ///
    /// - Parameter prepare: Gives the work of this turn. Not measured.
    static func inTask(_ prepare: @escaping () -> Stopwatch.AwaitedWork, tail: (() throws -> [Double])? = nil) -> Turn {
        Turn(measure: { try Stopwatch.time(inTask: prepare()) }, tail: tail)
    }

    private init(measure: @escaping () throws -> Stopwatch.Reading, tail: (() throws -> [Double])?) {
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
