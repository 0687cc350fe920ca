/// What one comparison measured: every operation of every side.
public struct Outcome: Codable, Sendable {
    /// What was compared.
    public var work: Work
    /// What was recorded or read: airports, a struct, a value of some size.
    public var subject: String
    /// Among how many entries.
    public var scale: String
    /// What was measured, ours first.
    public var sides: [Side]
    /// How many nanoseconds the first side may take, where that does not depend on another side.
    public var limit: Double?
    /// What is promised of differences between sides.
    public var increments: [Increment]
    /// What is promised of sides beside sides other than the first.
    public var ratios: [Ratio]
    /// The names of the sides that may not allocate anything.
    public var unallocating: [String]

    /// One library's way, and how long it took.
    public struct Side: Codable, Sendable {
        /// The name of the library, and of the way where there are several.
        public var name: String
        /// Nanoseconds for one operation, in the order they were measured; of a batch, its mean.
        public var samples: [Double]
        /// Nanoseconds for operations that were timed one by one, where `samples` are of batches.
        public var tail: [Double]
        /// Allocations for one operation, in the order of `samples`.
        public var allocations: [Double]
        /// How many times as long as this side the first may take.
        public var limit: Double?
        /// How many bytes it makes of one object, where that is compared, too.
        public var bytes: Double?
        /// How many times as many bytes as this side the first may make.
        public var limitOfBytes: Double?

        /// A side without samples yet.
        public init(name: String, limit: Double? = nil, limitOfBytes: Double? = nil) {
            self.name = name
            (samples, tail, allocations) = ([], [], [])
            self.limit = limit
            self.limitOfBytes = limitOfBytes
        }
    }

    /// What something adds, by itself or beside what it adds to another way: differences of turns in the same round.
    public struct Increment: Codable, Sendable {
        /// What is added, in words.
        public var title: String
        /// Names of sides: without it, and with it.
        public var ours: [String]
        /// The same of the other way; none where it stands for itself.
        public var theirs: [String]
        /// How many times as much it may add as to the other way.
        public var limit: Double?
        /// How many nanoseconds it may add.
        public var nanoseconds: Double?

        /// An increment between the named sides.
        public init(title: String, ours: [String], theirs: [String] = [], limit: Double? = nil, nanoseconds: Double? = nil) {
            self.title = title
            self.ours = ours
            self.theirs = theirs
            self.limit = limit
            self.nanoseconds = nanoseconds
        }
    }

    /// The median of one side divided by that of another.
    public struct Ratio: Codable, Sendable {
        /// The name of the side that is divided.
        public var ours: String
        /// The name of the side that it is divided by.
        public var theirs: String
        /// The largest quotient allowed.
        public var limit: Double?

        /// The quotient of two named sides.
        public init(_ ours: String, _ theirs: String, limit: Double? = nil) {
            self.ours = ours
            self.theirs = theirs
            self.limit = limit
        }
    }

    /// An outcome of the given sides.
    public init(
        work: Work, subject: String, scale: String, sides: [Side], limit: Double? = nil, increments: [Increment] = [],
        ratios: [Ratio] = [], unallocating: [String] = []
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

    /// What the median round takes longer on the second side than on the first.
    public func difference(_ names: [String]) -> Double {
        let samples = names.compactMap { side($0)?.samples }
        guard samples.count == 2 else { return .nan }
        return Distribution(zip(samples[1], samples[0]).map(-)).median
    }
}

/// What is compared, in the order of the report.
public enum Work: String, Codable, Sendable, CaseIterable {
    case memoryHit, diskHit, recordNew, recordOver, recordPowerSafe, bulk, opening
    case queryOne, queryHundred, queryRange, queryTop, queryComposite, queryElement, queryPrefix, queryCount
    case growth, unindexed, recordIndexed, bulkIndexed
    case cacheHit, cacheLoad, cacheDiskHit, cacheSetNew, cacheSetOver
    case shallowsHit, shallowsSet, shallowsFolderHit, shallowsFolderSetNew, shallowsFolderSetOver
    case shallowsSQLiteHit, shallowsSQLiteSet, shallowsSQLiteSetPowerSafe
    case coderEncode, coderDecode, coderRecordOver, coderDiskHit, coderUnindexed

    /// What one operation is.
    public var title: String {
        switch self {
        case .memoryHit: "Memory hit"
        case .diskHit: "Disk hit"
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
        case .growth: "Query: the top 10 of many beside those of 10 k"
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

/// One number that was measured and what it may be at most.
public struct Figure: Codable, Sendable {
    /// What was measured, in words.
    public var title: String
    /// What was measured, in its unit.
    public var value: Double
    /// The unit of the value and the limit.
    public var unit: String
    /// The largest value allowed.
    public var limit: Double?

    /// A figure and its limit.
    public init(title: String, value: Double, unit: String, limit: Double? = nil) {
        self.title = title
        self.value = value
        self.unit = unit
        self.limit = limit
    }
}
