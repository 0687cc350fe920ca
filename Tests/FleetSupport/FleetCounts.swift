/// What a process of a fleet counted.
package struct FleetCounts: Sendable {
    package var (calls, failures, writes, nearHits, loads, declined) = (0, 0, 0, 0, 0, 0)
    /// The longest call, in milliseconds.
    package var slowest = 0
    /// Reads that returned what was replaced longer ago than memory is trusted, or older than what
    /// the process itself wrote.
    package var stale = 0
    /// Confirmed reads that returned what was replaced before they began.
    package var confirmedStale = 0
    /// Acknowledged sets that the next read of the same process did not find.
    package var lost = 0
    /// Keys of which a process remembered something else than the server had, when nobody wrote any
    /// more.
    package var diverged = 0
    /// Loaders that began while another ran for the same key.
    package var overlaps = 0
    /// Values that were loaded while the server was out of reach and returned again; and those of
    /// them that were loaded too long ago.
    package var inOutage = 0
    package var tooOldInOutage = 0
    /// Removals that had not arrived some seconds after the trouble, though their process was still
    /// there; and all that were looked at.
    package var unremoved = 0
    package var removals = 0

    package init() {}

    private static let fields: [(String, any WritableKeyPath<FleetCounts, Int> & Sendable)] = [
        ("calls", \.calls), ("failures", \.failures), ("writes", \.writes),
        ("near hits", \.nearHits), ("loads", \.loads),
        ("declined", \.declined), ("slowest", \.slowest), ("stale", \.stale),
        ("confirmed stale", \.confirmedStale), ("lost", \.lost),
        ("diverged", \.diverged), ("overlaps", \.overlaps), ("unremoved", \.unremoved),
        ("removals", \.removals),
        ("in outages", \.inOutage), ("too old in outages", \.tooOldInOutage),
    ]

    /// The counts with their names, for a person and for ``init(_:)``.
    package var text: String {
        Self.fields.map { "\($0.0): \(self[keyPath: $0.1])" }.joined(separator: ", ")
    }

    /// Reads what ``text`` wrote; `nil` if it is something else.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ",").map { $0.split(separator: ":") }
        guard parts.count == Self.fields.count else { return nil }
        for (part, field) in zip(parts, Self.fields) {
            guard part.count == 2, let number = Int(part[1].drop { $0 == " " }) else { return nil }
            self[keyPath: field.1] = number
        }
    }

    /// The counts of several processes.
    package static func + (one: FleetCounts, other: FleetCounts) -> FleetCounts {
        var sum = one
        for (_, field) in fields { sum[keyPath: field] += other[keyPath: field] }
        sum.slowest = max(one.slowest, other.slowest)
        return sum
    }
}
