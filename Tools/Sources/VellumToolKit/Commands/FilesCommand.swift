internal import ArgumentParser
internal import Foundation
internal import VellumFiles

/// `vellum files`, and `vellum` alone.
struct FilesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "files",
        abstract: "List the files in the folders where programs keep them by default.",
        discussion: """
            EXAMPLES
              vellum
              vellum files --json | jq -r '.[].path'
            """
    )

    @OptionGroup var output: OutputOptions

    /// A file of the list. What cannot be read has a reason in place of figures.
    struct Row {
        var path: String
        var file: FileView?
        var reason: String?

        var json: JSON {
            [
                "path": .text(path),
                "kind": .optional(file?.kind, JSON.text),
                "bytes": .optional(file?.bytes, JSON.integer),
                "entries": .optional(file?.entries, JSON.integer),
                "error": .optional(reason, JSON.text),
            ]
        }
    }

    func run() throws {
        let console = Console.current
        let rows = ArchiveFile.filesInDefaultFolders().map {
            row($0, home: console.surroundings.home)
        }
        if output.json {
            try console.print(JSON.array(rows.map(\.json)))
        } else {
            try console.print(Self.table(rows, home: console.surroundings.home))
        }
        guard rows.isEmpty else { return }
        throw Failure(
            .nothing,
            output.json
                ? nil : "no file in the default folders; vellum ls FILE looks into a file elsewhere"
        )
    }

    static func table(_ rows: [Row], home: String) -> Table {
        let cells = rows.map { row in
            [
                Paths.abbreviated(row.path, home: home), row.file?.kind ?? row.reason ?? "",
                row.file.map { Numbers.size($0.bytes) } ?? "",
                row.file.map { Numbers.count($0.entries) } ?? "",
            ]
        }
        return Table(
            [
                .text("file", minimum: 20),
                .text("kind"), .number("size"),
                .number("entries"),
            ],
            rows: cells
        )
    }

    private func row(_ url: URL, home: String) -> Row {
        do {
            return Row(
                path: url.path,
                file: try Opening.file(url.path) { try Reading.file($0) }
            )
        } catch {
            return Row(path: url.path, reason: Self.reason(error, home: home))
        }
    }

    private static func reason(_ error: any Error, home: String) -> String {
        if let error = error as? VellumError { return "(\(error.code))" }
        return "(\(Failure.of(error, home: home)?.message ?? "not readable"))"
    }
}
