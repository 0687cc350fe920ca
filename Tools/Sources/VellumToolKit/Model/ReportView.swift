internal import Foundation
internal import VellumFiles

/// What a report shows.
struct ReportView: Sendable {
    struct Archive: Sendable {
        var archive: ArchiveView
        var statistics: RawArchive.Statistics
        var largest: [EntryView] = []
    }

    var file: FileView
    var archives: [Archive]
    var made: Date
    var zone: TimeZone
    /// Hides keys and folders; `nil` if they are shown.
    var redaction: Redaction?

    /// The path, or the name alone if folders are hidden.
    var path: String { redaction == nil ? file.path : (file.path as NSString).lastPathComponent }

    func key(_ key: String) -> String { redaction?.name(key) ?? key }

    var json: JSON {
        var file = self.file
        file.path = path
        let archives = self.archives.map { part -> JSON in
            [
                "name": .text(part.archive.name),
                "sizes": Self.counts(part.statistics.sizes, key: "from") {
                    Buckets.size(of: $0)
                },
                "ages": Self.counts(part.statistics.ages, key: "days") { $0 },
                "uses": Self.counts(part.statistics.uses, key: "days") { $0 },
                "typeVersions": Self.counts(part.statistics.typeVersions, key: "version") { $0 },
                "expired": .integer(part.statistics.expired),
                "limitFor30DaysBytes": .optional(
                    LimitAdvice(part.archive.summary, now: made)?.needed,
                    JSON.integer
                ),
                "largest": .array(
                    part.largest.map { entry in
                        var entry = entry
                        entry.key = key(entry.key)
                        return entry.json
                    }
                ),
            ]
        }
        return [
            "made": .date(made),
            "isRedacted": .bool(redaction != nil),
            "file": file.json,
            "statistics": .array(archives),
        ]
    }

    private static func counts(
        _ counts: [Int: Int],
        key: String,
        _ name: (Int) -> Int
    ) -> JSON {
        .array(
            counts.sorted { $0.key < $1.key }.map {
                [key: .integer(name($0.key)), "entries": .integer($0.value)]
            }
        )
    }
}
