package import VellumCore

extension ChangedKeys {
    /// Changes of single keys.
    package static func keys(_ hashes: [UInt64], _ kind: ChangeKind = .written) -> ChangedKeys {
        hashes.reduce(into: ChangedKeys()) { $0.insert(Key($1, kind), most: .max) }
    }

    /// Changes of all keys if there are no hashes.
    package static func keys(_ hashes: [UInt64]?, orAll kind: ChangeKind) -> ChangedKeys {
        hashes.map { keys($0) } ?? ChangedKeys(all: kind)
    }
}
