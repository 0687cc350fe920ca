internal import ArgumentParser
internal import Foundation
internal import VellumFiles

/// `vellum ls`.
struct LsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ls",
        abstract: "List the archives or caches of a file.",
        discussion: """
            The least recently used entries are evicted first. The limit is that on the disk; \
            "default" stands beside one that no program has given. Entries wait if they were \
            removed and are still to be deleted.

            EXAMPLES
              vellum ls Archives.sqlite
              vellum ls --json Archives.sqlite | jq -r '.archives[].name'
            """
    )

    @OptionGroup var file: FileArgument
    @OptionGroup var output: OutputOptions

    func run() throws {
        let console = Console.current
        let view = try Opening.file(file.file) { try Reading.file($0) }
        if output.json { return try console.print(view.json) }
        if let width = console.outputWidth {
            try console.print(
                console.styled(
                    TerminalText.shown(
                        Paths.abbreviated(view.path, home: console.surroundings.home),
                        width: width
                    ),
                    .bold
                )
            )
            for line in Self.head(view, width: width) {
                try console.print(console.styled(line, .dim))
            }
            if !view.archives.isEmpty { try console.print() }
        }
        if view.archives.isEmpty { return }
        try console.print(Self.table(view.archives, zone: console.surroundings.zone))
        guard let width = console.outputWidth else { return }
        let indexes = Self.indexes(view.archives)
        guard !indexes.rows.isEmpty else { return }
        try console.print()
        for line in indexes.lines(
            width: width,
            title: { console.styled($0, .bold) }
        ) {
            try console.print(line)
        }
    }

    /// The lines above the table.
    static func head(_ file: FileView, width: Int) -> [String] {
        var parts = [
            "\(file.kind), \(Numbers.size(file.bytes))", "log \(Numbers.size(file.logBytes))",
            "unused \(Numbers.size(file.unusedBytes))",
        ]
        if file.isOpenElsewhere { parts.append("open in another program") }
        return parts.reduce(into: [String]()) { lines, part in
            if let last = lines.last, last.count + 2 + part.count < width {
                lines[lines.count - 1] = "\(last), \(part)"
            } else {
                lines.append(part)
            }
        }
    }

    static func table(_ archives: [ArchiveView], zone: TimeZone) -> Table {
        let day = { (date: Date?) in
            date.flatMap { Dates.day($0, zone: zone) } ?? "–"
        }
        var table = Table([
            .text("archive", minimum: 10), .number("entries"), .number("bytes"),
            .text("limit", minimum: 7), .fixed("oldest use"),
            .fixed("newest use"),
        ])
        let hasVersions = archives.contains { !$0.versionText.isEmpty }
        if hasVersions { table.columns.append(.text("version", minimum: 7)) }
        let hasWaiting = archives.contains { $0.summary.waiting > 0 }
        if hasWaiting { table.columns.append(.number("waiting")) }
        table.rows = archives.map { archive in
            [
                archive.name, Numbers.count(archive.summary.entries),
                Numbers.size(archive.summary.size.bytes),
                archive.limitText, day(archive.summary.oldest),
                day(archive.summary.newest),
            ] + (hasVersions ? [archive.versionText] : [])
                + (hasWaiting ? [Numbers.count(archive.summary.waiting)] : [])
        }
        return table
    }

    static func indexes(_ archives: [ArchiveView]) -> Table {
        Table(
            [.text("archive"), .text("indexed properties")],
            rows: archives.flatMap { archive in
                archive.summary.indexes.map { [archive.name, $0.name] }
            }
        )
    }
}
