/// What one comparison measured: every operation of every side.
public struct Outcome: Codable, Sendable {
    public var work: Work
    /// What was recorded or read: airports, a struct, a value of some size.
    public var subject: String
    /// Among how many entries.
    public var scale: String
    public var sides: [Side]
    /// How many nanoseconds Vellum may take, where that does not depend on another side.
    public var limit: Double?

    public struct Side: Codable, Sendable {
        public var name: String
        /// Nanoseconds for one operation, in the order they were measured; of a batch, its mean.
        public var samples: [Double]
        /// Nanoseconds for operations that were timed one by one, where `samples` are of batches.
        public var tail: [Double]
        /// Allocations for one operation, in the order of `samples`.
        public var allocations: [Double]
        /// How many times as long as this side Vellum may take.
        public var limit: Double?

        public init(name: String, limit: Double? = nil) {
            self.name = name
            (samples, tail, allocations) = ([], [], [])
            self.limit = limit
        }
    }

    public init(work: Work, subject: String, scale: String, sides: [Side], limit: Double? = nil) {
        self.work = work
        self.subject = subject
        self.scale = scale
        self.sides = sides
        self.limit = limit
    }
}

/// What is compared, in the order of the report.
public enum Work: String, Codable, Sendable, CaseIterable {
    case memoryHit, diskHit, recordNew, recordOver, recordPowerSafe, bulk, opening

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
        }
    }
}

/// One number that was measured and what it may be at most.
public struct Figure: Codable, Sendable {
    public var title: String
    public var value: Double
    public var unit: String
    public var limit: Double?

    public init(title: String, value: Double, unit: String, limit: Double? = nil) {
        self.title = title
        self.value = value
        self.unit = unit
        self.limit = limit
    }
}
