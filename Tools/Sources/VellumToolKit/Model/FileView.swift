internal import Foundation

/// What is shown of a file.
struct FileView: Sendable {
    var path: String
    var kind: String
    var bytes: Int
    var logBytes: Int
    var unusedBytes: Int
    var isOpenElsewhere: Bool
    var archives: [ArchiveView]

    var entries: Int { archives.reduce(0) { Numbers.sum($0, $1.entries) } }

    var json: JSON {
        [
            "path": .text(path), "kind": .text(kind), "bytes": .integer(bytes),
            "logBytes": .integer(logBytes),
            "unusedBytes": .integer(unusedBytes), "isOpenElsewhere": .bool(isOpenElsewhere),
            "archives": .array(archives.map(\.json)),
        ]
    }
}

/// What is shown of an archive.
struct ArchiveView: Sendable {
    struct Index: Sendable {
        var properties: [String]
        var isOfElements: Bool

        /// `country, people`, or `tags (each element)`.
        var name: String {
            properties.joined(separator: ", ") + (isOfElements ? " (each element)" : "")
        }

        var json: JSON {
            ["properties": .array(properties.map(JSON.text)), "isOfElements": .bool(isOfElements)]
        }
    }

    var name: String
    var entries = 0
    var bytes = 0
    /// The limit; `nil` for none.
    var limit: Int?
    var isLimitGiven = false
    /// When the entry that is evicted next was last used.
    var oldestUse: Date?
    var newestUse: Date?
    var cacheVersion: String?
    var typeVersion = 0
    var indexes: [Index] = []
    var waiting = 0
    /// What the hit ratio would be with other limits.
    var sizing: SizingView?

    /// `64.0 MB`, `2.0 MB default` or `none`.
    var limitText: String {
        (limit.map(Numbers.size) ?? "none") + (isLimitGiven ? "" : " default")
    }

    /// The version of a cache, or of the type of an archive.
    var versionText: String { cacheVersion ?? (typeVersion == 0 ? "" : String(typeVersion)) }

    var json: JSON {
        [
            "name": .text(name), "entries": .integer(entries), "bytes": .integer(bytes),
            "limitBytes": .optional(limit, JSON.integer),
            "isLimitGiven": .bool(isLimitGiven), "oldestUse": .date(oldestUse),
            "newestUse": .date(newestUse),
            "cacheVersion": .optional(cacheVersion, JSON.text),
            "typeVersion": .integer(typeVersion),
            "indexes": .array(indexes.map(\.json)), "waiting": .integer(waiting),
            "sizing": sizing?.json ?? .null,
        ]
    }
}
