/// A table whose cells are texts of a file: it makes them safe.
struct Table: Sendable {
    struct Column: Sendable {
        var title: String
        var isRight = false
        /// The least width to which cells may be shortened; `nil` if they are never shortened.
        var minimum: Int?

        /// The title, safe and short: it may be the name of a field.
        var shownTitle: String { TerminalText.shown(title, width: 24) }

        /// A column of texts, which are shortened where there is no room.
        static func text(_ title: String, minimum: Int = 8) -> Column {
            Column(title: title, minimum: minimum)
        }
        /// A column of numbers.
        static func number(_ title: String) -> Column { Column(title: title, isRight: true) }
        /// A column of texts that are never shortened, such as dates.
        static func fixed(_ title: String) -> Column { Column(title: title) }
    }

    var columns: [Column]
    var rows: [[String]]

    private static let gap = "  "

    init(_ columns: [Column], rows: [[String]] = []) {
        self.columns = columns
        self.rows = rows
    }

    /// The lines of the table.
    ///
    /// - Parameter width: The columns of the terminal. `nil` is for programs: cells in full,
    ///   separated by tabs, and no titles.
    func lines(width: Int?, title: (String) -> String = { $0 }) -> [String] {
        guard let width else {
            return rows.map { row in row.map(TerminalText.escaped).joined(separator: "\t") }
        }
        let cells = rows.map { row in
            row.map { TerminalText.shown($0, width: max(width, 16)) }
        }
        guard let widths = widths(of: cells, within: width) else {
            return blocks(width: width, title: title)
        }
        let head = line(columns.map(\.title), widths)
        return [title(head)] + rows.map { line($0, widths) }
    }

    private func line(_ cells: [String], _ widths: [Int]) -> String {
        let padded = zip(columns, zip(cells, widths)).map { column, cell in
            DisplayWidth.padded(
                TerminalText.shown(cell.0, width: cell.1),
                to: cell.1,
                isRight: column.isRight
            )
        }
        return Self.trimmed(padded.joined(separator: Self.gap))
    }

    private static func trimmed(_ line: String) -> String {
        guard line.hasSuffix(" ") else { return line }
        return String(line.reversed().drop { $0 == " " }.reversed())
    }

    /// The widths of the columns; `nil` if the table does not fit.
    private func widths(of cells: [[String]], within width: Int) -> [Int]? {
        var widths = columns.map { DisplayWidth.of($0.shownTitle) }
        for row in cells {
            for (index, cell) in row.enumerated() {
                widths[index] = max(widths[index], DisplayWidth.of(cell))
            }
        }
        let room = width - Self.gap.count * (columns.count - 1)
        while widths.reduce(0, +) > room {
            // The widest column that can be shorter is shortened first.
            let candidates = columns.indices.filter { index in
                columns[index].minimum.map { widths[index] > $0 } ?? false
            }
            guard
                let widest = candidates.max(
                    by: { widths[$0] < widths[$1] }
                )
            else { return nil }
            widths[widest] -= 1
        }
        return widths
    }

    /// Each row as a block of lines, for a narrow terminal.
    private func blocks(width: Int, title: (String) -> String) -> [String] {
        let labels =
            columns.dropFirst().map {
                DisplayWidth.of($0.shownTitle)
            }.max() ?? 0
        return rows.flatMap { row in
            let rest = zip(columns, row).dropFirst().filter {
                !$0.1.isEmpty
            }.map { column, cell in
                let label = "  \(DisplayWidth.padded(column.shownTitle, to: labels))  "
                return DisplayWidth.shortened(
                    label + TerminalText.shown(cell, width: max(4, width - DisplayWidth.of(label))),
                    to: width
                )
            }
            return [title(TerminalText.shown(row.first ?? "", width: width))] + rest
        }
    }
}

extension Console {
    /// Writes a table.
    func print(_ table: Table) throws {
        for line in table.lines(width: outputWidth, title: { styled($0, .bold) }) {
            try print(line)
        }
    }
}
