/// The measurements of one comparison: every operation of every side.
public struct Outcome: Codable, Sendable {
    /// The operation that was compared.
    public var work: Work
    /// The recorded or read objects: airports, a struct, a value of some size.
    public var subject: String
    /// The number of entries in the store.
    public var scale: String
    /// The sides, ours first.
    public var sides: [Side]
    /// The limit of the first side in nanoseconds, if it does not depend on another side.
    public var limit: Double?
    /// The limits of differences between sides.
    public var increments: [Increment]
    /// The limits of ratios between sides other than the first.
    public var ratios: [Ratio]
    /// The names of the sides that may not allocate anything.
    public var unallocating: [String]

    /// One implementation and its measurements.
    public struct Side: Codable, Sendable {
        /// The name of the library, and of the call if there are several.
        public var name: String
        /// What survives of a write that has returned: nothing is said of reads.
        public var durability: String?
        /// Why this side was not measured.
        public var notRun: String?
        /// Nanoseconds per operation, in the order of measurement; the mean of a batch.
        public var samples: [Double]
        /// Nanoseconds of operations that were timed one by one, if `samples` are of batches.
        public var tail: [Double]
        /// Allocations per operation, in the order of `samples`.
        public var allocations: [Double]
        /// The limit of the first side's time divided by this side's.
        public var limit: Double?
        /// The encoded size of one object, if sizes are compared.
        public var bytes: Double?
        /// The limit of the first side's size divided by this side's.
        public var limitOfBytes: Double?

        /// Creates a side without samples.
        public init(
            name: String,
            durability: String? = nil,
            notRun: String? = nil,
            limit: Double? = nil,
            limitOfBytes: Double? = nil
        ) {
            self.name = name
            self.durability = durability
            self.notRun = notRun
            (samples, tail, allocations) = ([], [], [])
            self.limit = limit
            self.limitOfBytes = limitOfBytes
        }
    }

    /// The cost that a feature adds, by itself or compared with what it adds to another side:
    /// differences of turns in the same round.
    public struct Increment: Codable, Sendable {
        /// The name of the feature.
        public var title: String
        /// Names of sides: without it, and with it.
        public var ours: [String]
        /// The same of the other side; none if there is no other.
        public var theirs: [String]
        /// The limit of its cost divided by that of the other side.
        public var limit: Double?
        /// The limit of its cost in nanoseconds.
        public var nanoseconds: Double?

        /// Creates an increment between the named sides.
        public init(
            title: String,
            ours: [String],
            theirs: [String] = [],
            limit: Double? = nil,
            nanoseconds: Double? = nil
        ) {
            self.title = title
            self.ours = ours
            self.theirs = theirs
            self.limit = limit
            self.nanoseconds = nanoseconds
        }
    }

    /// The median of one side divided by that of another.
    public struct Ratio: Codable, Sendable {
        /// The name of the side in the numerator.
        public var ours: String
        /// The name of the side in the denominator.
        public var theirs: String
        /// The largest quotient allowed.
        public var limit: Double?

        /// Creates the quotient of two named sides.
        public init(_ ours: String, _ theirs: String, limit: Double? = nil) {
            self.ours = ours
            self.theirs = theirs
            self.limit = limit
        }
    }

    /// Creates an outcome of the given sides.
    public init(
        work: Work,
        subject: String,
        scale: String,
        sides: [Side],
        limit: Double? = nil,
        increments: [Increment] = [],
        ratios: [Ratio] = [],
        unallocating: [String] = []
    ) {
        self.work = work
        self.subject = subject
        self.scale = scale
        self.sides = sides
        self.limit = limit
        self.increments = increments
        self.ratios = ratios
        self.unallocating = unallocating
    }

    /// Returns the side of this name.
    public func side(_ name: String) -> Side? { sides.first { $0.name == name } }

    /// Returns the median of the second side's time minus the first's, over the rounds.
    public func difference(_ names: [String]) -> Double {
        let samples = names.compactMap { side($0)?.samples }
        guard samples.count == 2 else { return .nan }
        return Distribution(zip(samples[1], samples[0]).map(-)).median
    }
}

/// The compared operations, in the order of the report.
public enum Work: String, Codable, Sendable, CaseIterable {
    case memoryHit, diskHit, manyKeys, update, recordNew, recordOver, recordPowerSafe, bulk, opening
    case queryOne, queryHundred, queryRange, queryTop, queryComposite, queryElement, queryPrefix,
        queryCount, querySum, queryAverage
    case growthHit, growthRecord, growthOne, growthRange, growth, unindexed, recordIndexed,
        bulkIndexed
    case cacheHit, cacheLoad, cacheDiskHit, cacheSetNew, cacheSetOver
    case shallowsHit, shallowsSet, shallowsFolderHit, shallowsFolderSetNew, shallowsFolderSetOver
    case shallowsSQLiteHit, shallowsSQLiteSet, shallowsSQLiteSetPowerSafe
    case coderEncode, coderDecode, coderRecordOver, coderDiskHit, coderUnindexed

    /// What survives of a write that has returned, on the sides that do not say something else.
    public var durability: String? {
        switch self {
        case .update, .recordNew, .recordOver, .bulk, .recordIndexed, .bulkIndexed, .cacheSetNew,
            .cacheSetOver, .shallowsFolderSetNew,
            .shallowsFolderSetOver, .shallowsSQLiteSet, .coderRecordOver:
            "crash-safe"
        case .recordPowerSafe, .shallowsSQLiteSetPowerSafe: "power-safe"
        default: nil
        }
    }

    /// The description of one operation.
    public var title: String {
        switch self {
        case .memoryHit: "Memory hit"
        case .diskHit: "Disk hit"
        case .manyKeys: "Disk hits, fifty keys, each"
        case .update: "Update"
        case .recordNew: "Record under a new key, crash-safe"
        case .recordOver: "Record over what is there, crash-safe"
        case .recordPowerSafe: "Record under a new key, power-safe"
        case .bulk: "Record 1000 in one transaction, crash-safe (per entry)"
        case .opening: "Open after a clean close, and read one entry"
        case .queryOne: "Query: equality, one object"
        case .queryHundred: "Query: equality, about 100 objects"
        case .queryRange: "Query: range, sorted, limit 10"
        case .queryTop: "Query: the top 10, descending"
        case .queryComposite: "Query: equality and range, sorted, about 50 objects"
        case .queryElement: "Query: membership, about 100 objects"
        case .queryPrefix: "Query: prefix, about 10 objects"
        case .queryCount: "Query: count of a range"
        case .querySum: "Query: sum of an integer property of all objects"
        case .queryAverage: "Query: average of a floating-point property of all objects"
        case .growthHit: "Growth: a disk hit among many beside one among 10 k"
        case .growthRecord:
            "Growth: a record over the same object, which has four indexes, crash-safe"
        case .growthOne: "Growth: a query for one object"
        case .growthRange: "Growth: a range, sorted, limit 10"
        case .growth: "Growth: the top 10"
        case .unindexed: "Query: no index, every object is looked at (all of them)"
        case .recordIndexed: "Record under a new key with indexes, crash-safe"
        case .bulkIndexed: "Record 1000 in one transaction with indexes, crash-safe (per entry)"
        case .cacheHit: "MiniCache: a hit in memory"
        case .cacheLoad: "MiniCache: a hit in memory by value(forKey:orLoad:)"
        case .cacheDiskHit: "MiniCache: a hit on disk"
        case .cacheSetNew: "MiniCache: set under a new key, crash-safe"
        case .cacheSetOver: "MiniCache: set over what is there, crash-safe"
        case .shallowsHit: "Shallows: a hit in memory"
        case .shallowsSet: "Shallows: set to two storages in memory, over what is there"
        case .shallowsFolderHit: "Shallows: a hit in a folder"
        case .shallowsFolderSetNew: "Shallows: set in a folder, under a new key, crash-safe"
        case .shallowsFolderSetOver: "Shallows: set in a folder, over what is there, crash-safe"
        case .shallowsSQLiteHit: "ShallowsSQLite: a hit on disk"
        case .shallowsSQLiteSet: "ShallowsSQLite: set over what is there, crash-safe"
        case .shallowsSQLiteSetPowerSafe: "ShallowsSQLite: set over what is there, power-safe"
        case .coderEncode: "Coders: encode one object"
        case .coderDecode: "Coders: decode one object"
        case .coderRecordOver: "Coders in a store: record over what is there, crash-safe"
        case .coderDiskHit: "Coders in a store: a hit on disk"
        case .coderUnindexed: "Coders in a store: query without an index (all objects)"
        }
    }
}

/// A measured number and its limit.
public struct Figure: Codable, Sendable {
    /// The name of the measurement.
    public var title: String
    /// The measured value.
    public var value: Double
    /// The unit of the value and the limit.
    public var unit: String
    /// The largest value allowed.
    public var limit: Double?

    /// Creates a figure with its limit.
    public init(title: String, value: Double, unit: String, limit: Double? = nil) {
        self.title = title
        self.value = value
        self.unit = unit
        self.limit = limit
    }
}
