internal import ArgumentParser
internal import Foundation
internal import VellumFiles

/// `vellum find`.
struct FindCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "find",
        abstract: "Find objects by their fields.",
        discussion: """
            A query compares fields by == != < <= > >=, in ("a", "b"), begins "a" and contains \
            "a", joins that by and, or, not and parentheses, and may end with sort FIELD [desc], \
            limit NUMBER and offset NUMBER. address.city is a field of a field. Without a query \
            all objects are found. On a terminal the result is a table; elsewhere, or with --json, \
            a line of JSON for each object.

            EXAMPLES
              vellum find Archives.sqlite Airport 'elevation > 2000 sort name limit 10'
              vellum find Archives.sqlite Airport 'country == "CH"' --fields name,elevation
              vellum find Archives.sqlite Airport 'country == "CH"' --count
            """
    )

    @OptionGroup var archive: ArchiveArguments
    @Argument(help: "The query.") var query = ""
    @Flag(help: "Only how many objects match.") var count = false
    @Option(help: "Only these fields, separated by commas: name,address.city") var fields: String?
    @OptionGroup var dates: DatesOption
    @OptionGroup var output: OutputOptions

    func run() throws {
        let console = Console.current
        let query = try Reading.query(self.query, width: console.surroundings.width)
        try Opening.archive(archive.archive, of: archive.path) { archive in
            if count { return try printCount(archive, query) }
            try printObjects(archive, query)
        }
    }

    private func printCount(_ archive: RawArchive, _ query: Query) throws {
        let console = Console.current
        var count = 0
        try query.find(in: archive) { _ in count += 1 }
        try console.print(
            output.json ? (["count": .integer(count)] as JSON).line : String(count)
        )
        if count == 0 { throw Failure(.nothing, nil) }
    }

    private func printObjects(_ archive: RawArchive, _ query: Query) throws {
        let console = Console.current
        let fields = self.fields.map(Fields.list)
        let dates = try dates.fields(of: archive)
        guard let width = console.outputWidth, !output.json else {
            var isEmpty = true
            try query.find(in: archive) { object in
                isEmpty = false
                let view = Reading.object(object, of: archive)
                try console.print(view.json(fields: fields, dates: dates).line)
            }
            if isEmpty { throw Failure(.nothing, nil) }
            return
        }
        var objects: [ObjectView] = []
        try query.find(in: archive) { objects.append(Reading.object($0, of: archive)) }
        guard !objects.isEmpty else { throw Failure(.nothing, "nothing matches") }
        try console.print(
            ObjectTable(fields: fields, dates: dates, width: width, zone: console.surroundings.zone)
                .table(objects)
        )
    }
}

/// Objects as a table of their fields.
struct ObjectTable {
    /// The fields; `nil` for as many as there is room for.
    var fields: [String]?
    /// Those that are dates.
    var dates: Set<String> = []
    var width: Int
    var zone: TimeZone

    func table(_ objects: [ObjectView]) -> Table {
        // A field that is the key everywhere would stand there twice, and one that is empty
        // everywhere says nothing.
        let all =
            fields
            ?? Fields.names(of: objects.prefix(100).lazy.map(\.value)).filter { field in
                !objects.allSatisfy {
                    Fields.value(at: field, of: $0.value) == .text($0.key)
                }
                    && objects.contains {
                        Fields.cell(Fields.value(at: field, of: $0.value), zone: zone) != ""
                    }
            }
        // Values that are no maps have a column of their own.
        guard !all.isEmpty else {
            return Table(
                [.text("key"), .text("value")],
                rows: objects.map { [$0.key, Fields.cell($0.value, zone: zone)] }
            )
        }
        var columns = [Table.Column.text("key")]
        var shown: [String] = []
        var room = width - 8
        for field in all {
            let title = DisplayWidth.of(TerminalText.shown(field, width: 24))
            let needed = 2 + max(8, title)
            guard fields != nil || room >= needed else { break }
            room -= needed
            let isNumber =
                !dates.contains(field)
                && objects.allSatisfy { object in
                    Fields.value(at: field, of: object.value).map {
                        Fields.isNumber($0) || $0 == .null
                    } ?? true
                }
            columns.append(
                Table.Column(title: field, isRight: isNumber, minimum: max(8, title))
            )
            shown.append(field)
        }
        let rows = objects.map { object in
            [object.key]
                + shown.map {
                    Fields.cell(at: $0, of: object.value, dates: dates, zone: zone)
                }
        }
        return Table(columns, rows: rows)
    }
}
