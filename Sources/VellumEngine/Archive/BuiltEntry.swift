public import Foundation
public import VellumCore

/// The result of indexing an entry.
@usableFromInline package enum IndexedOutcome: Sendable {
    case values(IndexedValues)
    /// One of its values cannot be indexed. Queries read the entry.
    case noPlace
    /// It cannot be decoded. Queries read the entry, in case it can be decoded later.
    case undecodable
    /// It is of an older version of its type: this is to take its place.
    case migrated(MigratedEntry)
    /// It is of an older version, and no longer needed.
    case removed
}

extension IndexedOutcome {
    /// What is indexed of an older entry that stays. Queries read one that is dropped or gets
    /// another key, under which there may be another.
    func asRecorded(under key: EntryKey) -> IndexedOutcome {
        switch self {
        case .migrated(let new) where new.key == key:
            new.indexed.map(IndexedOutcome.values) ?? .noPlace
        case .migrated, .removed: .noPlace
        case .values, .noPlace, .undecodable: self
        }
    }
}

/// What a migration made of an entry.
@usableFromInline package struct MigratedEntry: Sendable {
    @usableFromInline package var key: EntryKey
    @usableFromInline package var bytes: Data
    @usableFromInline package var version: Int64
    /// Its values for the index; `nil` if one of them cannot be indexed, or nothing is.
    @usableFromInline package var indexed: IndexedValues?
}

/// An entry as the builder has read and decoded it.
struct BuiltEntry: Sendable {
    var id: Int64
    /// The entry's revision when it was read, or after it was migrated.
    var revision: UInt32
    var outcome: IndexedOutcome
    /// The entry, if another is to take its place.
    let old: StoredEntry?

    init(_ entry: StoredEntry, _ outcome: IndexedOutcome) {
        id = entry.entry.id
        revision = entry.entry.revision
        self.outcome = outcome
        old =
            switch outcome {
            case .migrated, .removed: entry
            case .values, .noPlace, .undecodable: nil
            }
    }

    /// How many rows it takes in the index.
    func weight(_ shape: IndexShape) -> Int {
        let values: IndexedValues
        switch outcome {
        case .values(let found): values = found
        // A key that goes or changes is at a random place of the index of keys, too.
        case .migrated(let new) where new.key != old?.key: return 8
        case .migrated(let new): values = new.indexed ?? IndexedValues()
        case .removed: return 8
        case .noPlace, .undecodable: return 1
        }
        return 1 + shape.indexes.count + values.elements.reduce(0) { $0 + $1.count }
    }
}

extension IndexProgress {
    /// - Parameters:
    ///   - built: How many entries the builder has read.
    ///   - through: The entry up to which it has; `Int64.max` at the end.
    ///   - unknown: How many entries it has to read again, because other programs have written
    ///     them.
    init(built: Int64, through: Int64, unknown: Int, of total: Int) {
        // Before the end, at least one entry may be left, however many were removed since.
        let read =
            through == .max
            ? total
            : min(Int(clamping: built), max(0, total - 1))
        self.init(
            indexed: max(0, read - unknown),
            total: total,
            isComplete: through == .max && unknown == 0
        )
    }
}
