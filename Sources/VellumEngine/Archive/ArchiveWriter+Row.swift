internal import VellumCore

extension ArchiveWriter {
    /// The archive's row in `archives`.
    struct Row: Equatable {
        var entries: Int64 = 0
        var bytes: Int64 = 0
        /// The number of the next entry: numbers are never used twice.
        var next: Int64 = 1
        /// Every entry up to this number has its last use in `uses`; a later one may still lack it.
        var settled: Int64 = 0
        /// How many marks there are.
        var marks: Int64 = 0
        /// Whether there ever was an entry that expires: 0 or 1.
        var expiring: Int64 = 0
        var limit = StoredLimit.unknown

        var isPossible: Bool {
            let possible = 0...Int64(1) << 48
            return [entries, bytes, settled, marks].allSatisfy(possible.contains) && next > 0 && possible.contains(next)
                && settled < next && entries < next && 0...1 ~= expiring && limit.isPossible
        }
    }
}
