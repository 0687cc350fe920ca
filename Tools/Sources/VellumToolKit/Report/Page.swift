internal import Foundation
internal import VellumFiles

/// The page of a report.
enum Page {
    /// Archives beyond this number are in the table of all archives alone.
    static let sections = 60

    /// Returns the page.
    static func html(_ report: ReportView) -> String {
        let name = (report.file.path as NSString).lastPathComponent
        let head: [Node] = [
            .tag("meta", ["charset": "utf-8"]),
            .tag("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"]),
            .tag(
                "meta",
                [
                    "http-equiv": "Content-Security-Policy",
                    "content": "default-src 'none'; style-src 'unsafe-inline'",
                ]
            ),
            .tag("meta", ["name": "color-scheme", "content": "light dark"]),
            .tag("meta", ["name": "referrer", "content": "no-referrer"]),
            .tag("title", "\(name) – Vellum report"),
            .tag("style", [.style(StyleSheet.text)]),
        ]
        let parts = report.archives.sorted { $0.archive.summary.size > $1.archive.summary.size }
        let archives = parts.prefix(sections).enumerated().map {
            ArchiveSection(id: "a\($0.offset)", part: $0.element, report: report).node
        }
        let body: [Node] = [
            header(report, name: name), .tag("main", [allArchives(parts)] + archives),
            footer(report),
        ]
        var page = "<!DOCTYPE html>"
        Node.tag(
            "html",
            ["lang": "en"],
            [.tag("head", head), .tag("body", body)]
        ).write(to: &page)
        return page + "\n"
    }

    private static func header(_ report: ReportView, name: String) -> Node {
        let file = report.file
        let made = Dates.local(report.made, zone: report.zone) ?? ""
        return .tag(
            "header",
            [
                .tag("p", ["class": "above"], "Vellum report, \(made)"),
                .tag("h1", [.short(name, 60)]),
                .tag("p", ["class": "path"], report.path == name ? "" : report.path),
                Facts.list([
                    ("Kind", file.kind), ("Size", Numbers.size(file.bytes)),
                    ("Log", Numbers.size(file.logBytes)),
                    ("Unused", Numbers.size(file.unusedBytes)),
                    ("Entries", Numbers.count(file.entries)),
                    ("Open elsewhere", file.isOpenElsewhere ? "yes" : "no"),
                ]),
            ]
        )
    }

    private static func allArchives(_ parts: [ReportView.Archive]) -> Node {
        let word = Numbers.count(parts.count, "archive", "archives")
        let greatest = parts.prefix(10).map {
            Picture.Item(
                label: $0.archive.name,
                value: $0.archive.summary.size.bytes,
                text: Numbers.size($0.archive.summary.size.bytes)
            )
        }
        let picture = Picture(
            id: "all",
            title: "Bytes of \(parts.count > 10 ? "the ten largest archives" : word)",
            description:
                "A bar for each archive, the largest first. The table has the same numbers."
        )
        let table = Facts.table(
            "Bytes and entries of each archive",
            ["Archive", "Bytes", "Entries"],
            parts.map {
                [
                    $0.archive.name, Numbers.size($0.archive.summary.size.bytes),
                    Numbers.count($0.archive.summary.entries),
                ]
            }
        )
        let content: [Node] =
            parts.isEmpty
            ? [.tag("p", "The file has no archives.")]
            : [Facts.pair(picture.bars(greatest), table)]
        return .tag("section", [.tag("h2", "Sizes by archive")] + content)
    }

    private static func footer(_ report: ReportView) -> Node {
        let hidden =
            report.redaction == nil
            ? "" : " Keys and folders are left out; equal keys have equal names in this page."
        return .tag(
            "footer",
            [
                .tag(
                    "p",
                    """
                    Sizes are of encoded values; 1 kB is 1024 bytes. The page has no values of \
                    objects.\(hidden)
                    """
                )
            ]
        )
    }
}

/// Lists and tables of a page.
enum Facts {
    /// Names with figures.
    static func list(_ facts: [(name: String, value: String)]) -> Node {
        .tag(
            "dl",
            ["class": "facts"],
            facts.map {
                .tag(
                    "div",
                    [.tag("dt", $0.name), .tag("dd", $0.value)]
                )
            }
        )
    }

    /// A table whose first column names the rows; the others are numbers.
    static func table(
        _ caption: String,
        _ titles: [String],
        _ rows: [[String]]
    ) -> Node {
        let head = titles.map { Node.tag("th", ["scope": "col"], $0) }
        let body = rows.map { row in
            Node.tag(
                "tr",
                [
                    .tag("th", ["scope": "row"], [.short(row.first ?? "", 60)])
                ]
                    + row.dropFirst().map { .tag("td", $0) }
            )
        }
        return .tag(
            "div",
            ["class": "table"],
            [
                .tag(
                    "table",
                    [
                        .tag("caption", caption), .tag("thead", [.tag("tr", head)]),
                        .tag("tbody", body),
                    ]
                )
            ]
        )
    }

    /// A picture, and the table with its numbers.
    static func pair(_ picture: Node, _ table: Node) -> Node {
        .tag("div", ["class": "pair"], [.tag("figure", [picture]), table])
    }
}
