internal import Foundation
internal import VellumFiles

/// What is shown of a file.
struct FileView: Sendable {
    var path: String
    var kind: String
    var bytes: Int
    var logBytes: Int
    var unusedBytes: Int
    var isOpenElsewhere: Bool
    var archives: [ArchiveView]

    var entries: Int { archives.reduce(0) { Numbers.sum($0, $1.summary.entries) } }

    var json: JSON {
        [
            "path": .text(path),
            "kind": .text(kind),
            "bytes": .integer(bytes),
            "logBytes": .integer(logBytes),
            "unusedBytes": .integer(unusedBytes),
            "isOpenElsewhere": .bool(isOpenElsewhere),
            "archives": .array(archives.map(\.json)),
        ]
    }
}

/// What is shown of an archive.
struct ArchiveView: Sendable {
    var name: String
    var summary: RawArchive.Summary

    /// `64.0 MB`, `2.0 MB default` or `none`.
    var limitText: String {
        (summary.limit.map { Numbers.size($0.bytes) } ?? "none")
            + (summary.isLimitGiven ? "" : " default")
    }

    /// The version of a cache, or of the type of an archive.
    var versionText: String {
        summary.cacheVersion ?? (summary.typeVersion == 0 ? "" : String(summary.typeVersion))
    }

    var json: JSON {
        [
            "name": .text(name),
            "entries": .integer(summary.entries),
            "bytes": .integer(summary.size.bytes),
            "limitBytes": .optional(summary.limit?.bytes, JSON.integer),
            "isLimitGiven": .bool(summary.isLimitGiven),
            "oldestUse": .date(summary.oldest),
            "newestUse": .date(summary.newest),
            "cacheVersion": .optional(summary.cacheVersion, JSON.text),
            "typeVersion": .integer(summary.typeVersion),
            "indexes": .array(summary.indexes.map(\.json)),
            "waiting": .integer(summary.waiting),
            "sizing": summary.sizing?.json(written: summary.sizingWritten) ?? .null,
        ]
    }
}

extension RawArchive.Index {
    /// `country, people`, or `tags (each element)`.
    var name: String {
        properties.joined(separator: ", ") + (isOfElements ? " (each element)" : "")
    }

    fileprivate var json: JSON {
        ["properties": .array(properties.map(JSON.text)), "isOfElements": .bool(isOfElements)]
    }
}
