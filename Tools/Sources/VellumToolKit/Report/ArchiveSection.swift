internal import Foundation
internal import VellumFiles

/// What a page says of one archive.
struct ArchiveSection {
    var id: String
    var part: ReportView.Archive
    var report: ReportView

    private var archive: RawArchive.Summary { part.archive.summary }
    private var statistics: RawArchive.Statistics { part.statistics }

    var node: Node {
        let parts = [limit, sizing, sizes, ages, uses, versions, indexes, largest].compactMap(
            \.self
        )
        return .tag(
            "section",
            ["class": "archive"],
            [.tag("h2", [.short(part.archive.name, 60)]), facts] + parts
        )
    }

    private func day(_ date: Date?) -> String {
        date.flatMap { Dates.day($0, zone: report.zone) } ?? "–"
    }

    private var facts: Node {
        var facts = [
            (
                "Entries", Numbers.count(archive.entries)
            ), ("Bytes", Numbers.size(archive.size.bytes)),
            ("Oldest use", day(archive.oldest)),
            ("Newest use", day(archive.newest)),
        ]
        if let version = archive.cacheVersion { facts.append(("Cache version", version)) }
        if statistics.expired > 0 { facts.append(("Expired", Numbers.count(statistics.expired))) }
        if archive.waiting > 0 {
            facts.append(("Waiting to be deleted", Numbers.count(archive.waiting)))
        }
        return Facts.list(facts)
    }

    private func block(_ title: String, _ content: [Node]) -> Node {
        .tag("div", ["class": "block"], [.tag("h3", title)] + content)
    }

    private func picture(_ name: String, _ title: String, _ description: String) -> Picture {
        Picture(id: "\(id)-\(name)", title: title, description: description)
    }

    // MARK: Limit

    private var limit: Node? {
        guard let limit = archive.limit?.bytes, let advice = LimitAdvice(archive, now: report.made)
        else {
            return block(
                "Limit",
                [.tag("p", "The archive has no limit on disk: nothing is evicted.")]
            )
        }
        let share = Numbers.share(archive.size.bytes, of: limit)
        // Far away it would make the bar too short to see.
        let mark = advice.needed.flatMap {
            $0 <= 4 * min(limit, .max / 4) ? $0 : nil
        }
        let picture = picture(
            "limit",
            "The archive is \(share) full",
            mark == nil
                ? "The bar is the part of the limit that is used."
                : "A line marks the limit that keeps entries for 30 days."
        )
        var rows = [
            ["Used", Numbers.size(archive.size.bytes), share],
            ["Limit\(archive.isLimitGiven ? "" : ", the default")", Numbers.size(limit), ""],
        ]
        if let needed = advice.needed {
            rows.append(["For 30 days", Numbers.size(needed), ""])
        }
        func item(_ label: String, _ bytes: Int) -> Picture.Item {
            Picture.Item(label: label, value: bytes, text: Numbers.size(bytes))
        }
        let gauge = picture.gauge(
            part: item("used", archive.size.bytes),
            whole: item("limit", limit),
            mark: mark.map { item("for 30 days", $0) }
        )
        let table = Facts.table("Bytes beside the limit", ["", "Bytes", "Share"], rows)
        return block(
            "Limit",
            [
                .tag("p", ["class": "say"], advice.sentence),
                Facts.pair(gauge, table),
            ]
        )
    }

    private var sizing: Node? {
        guard let sizing = archive.sizing, !sizing.curve.isEmpty else { return nil }
        let picture = picture(
            "sizing",
            "Hit ratio by limit",
            """
            The part of reads that would be hits, by the limit in bytes. A line marks the limit on \
            disk.
            """
        )
        func rows(_ name: String, _ points: [Sizing.Point]) -> [[String]] {
            points.enumerated().map { index, point in
                [
                    name, Numbers.size(point.limit.bytes), "\(Self.factors[min(index, 6)]) ×",
                    Numbers.share(Int(point.hitRatio * 1000), of: 1000),
                ]
            }
        }
        let table = Facts.table(
            "What other limits would hit",
            ["", "Limit", "Of the present", "Hits"],
            rows("Memory", sizing.memory) + rows("Disk", sizing.disk)
        )
        return block(
            "How large the limit should be",
            [
                .tag(
                    "p",
                    ["class": "say"],
                    """
                    \(sizing.sentence(limit: archive.limit)) Measured until \
                    \(day(archive.sizingWritten)).
                    """
                ),
                Facts.pair(
                    picture.curve(sizing.curve, mark: archive.limit?.bytes),
                    table
                ),
            ]
        )
    }

    private static let factors = ["1/8", "1/4", "1/2", "1", "2", "4", "8"]

    // MARK: Histograms

    private func histogram(
        _ title: String,
        _ picture: Node,
        _ first: String,
        _ items: [Picture.Item]
    ) -> Node? {
        guard !items.isEmpty else { return nil }
        let all = items.reduce(0) { Numbers.sum($0, $1.value) }
        let rows = items.filter { $0.value > 0 }.map {
            [$0.label, $0.text, Numbers.share($0.value, of: all)]
        }
        return block(
            title,
            [
                Facts.pair(
                    picture,
                    Facts.table("\(title), in numbers", [first, "Entries", "Share"], rows)
                )
            ]
        )
    }

    private var sizes: Node? {
        let items = Buckets.sizes(statistics.sizes)
        let picture = picture(
            "sizes",
            "Entries by size",
            "A column for each power of two: entries of that many bytes, up to twice as many."
        )
        return histogram("Sizes of entries", picture.columns(items), "From", items)
    }

    private var ages: Node? {
        let items = Buckets.ages(statistics.ages)
        let picture = picture(
            "ages",
            "Entries by age",
            "A bar for each span of time since an entry was recorded."
        )
        return histogram("Ages of entries", picture.bars(items), "Recorded", items)
    }

    private var uses: Node? {
        let items = Buckets.ages(statistics.uses)
        // Where nothing was used after it was recorded, the picture would be the one before.
        guard statistics.uses != statistics.ages else { return nil }
        let picture = picture(
            "uses",
            "Entries by last use",
            "A bar for each span of time since an entry was last used."
        )
        return histogram("Last uses", picture.bars(items), "Used", items)
    }

    private var versions: Node? {
        let items = Buckets.versions(statistics.typeVersions)
        // One bar without a version says nothing.
        guard items.count > 1 || statistics.typeVersions.keys.contains(where: { $0 != 0 }) else {
            return nil
        }
        let picture = picture(
            "versions",
            "Entries by version of their type",
            "A bar for each version, the newest first."
        )
        return histogram("Versions of the type", picture.bars(items), "Version", items)
    }

    // MARK: Lists

    private var indexes: Node? {
        guard !archive.indexes.isEmpty else { return nil }
        let rows = archive.indexes.map {
            [
                $0.properties.joined(separator: ", "),
                $0.isOfElements ? "each element" : "each entry",
            ]
        }
        return block(
            "Indexes",
            [Facts.table("Indexes of the archive", ["Properties", "An entry for"], rows)]
        )
    }

    private var largest: Node? {
        guard !part.largest.isEmpty else { return nil }
        let rows = part.largest.map {
            [
                report.key($0.key),
                Numbers.size($0.bytes), day($0.recorded),
            ]
        }
        return block(
            "Largest entries",
            [Facts.table("The largest entries", ["Key", "Bytes", "Recorded"], rows)]
        )
    }
}
