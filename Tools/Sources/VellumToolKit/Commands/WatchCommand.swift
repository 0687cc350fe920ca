internal import ArgumentParser
internal import Foundation
internal import VellumFiles

/// `vellum watch`.
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print a line for each change that any program makes.",
        discussion: """
            A line has the time, the archive, the number of changes, and the keys that are known. \
            Ctrl-C ends it, with status 0.

            EXAMPLES
              vellum watch Archives.sqlite
              vellum watch --json Archives.sqlite | jq -r '.present[]'
            """
    )

    @OptionGroup var file: FileArgument
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let console = Console.current
        let file = try ArchiveFile(at: Opening.url(file.file, access: .reading))
        if console.surroundings.isErrorTerminal, console.surroundings.isOutputTerminal {
            console.writeError("Watching \(console.path(file.url.path)). Ctrl-C ends it.\n")
        }
        let isJSON = output.json
        let watching = Task {
            for try await change in file.changes() {
                let archive = try file.archive(named: change.archive)
                let view = ChangeView(
                    time: Date(),
                    archive: change.archive,
                    count: change.count,
                    present: change.present.map { archive?.text(ofKey: $0) ?? $0 },
                    removed: change.removed
                )
                try console.print(
                    isJSON
                        ? view.json.line
                        : view.line(zone: console.surroundings.zone, width: console.outputWidth)
                )
                try console.flush()
            }
        }
        Interrupts.shared.respond { watching.cancel() }
        let result = await watching.result
        Interrupts.shared.respond(nil)
        try file.close()
        do {
            try result.get()
        } catch is CancellationError {
            return
        }
        if !watching.isCancelled { throw Failure(.unusable, "the file is gone") }
    }
}

/// What is shown of a change.
struct ChangeView: Sendable {
    var time: Date
    var archive: String
    /// `nil` for many.
    var count: Int?
    var present: [String]
    var removed: Int

    var json: JSON {
        [
            "time": .date(time),
            "archive": .text(archive),
            "changes": .optional(count, JSON.integer),
            "present": .array(present.map(JSON.text)),
            "removed": .integer(removed),
        ]
    }

    func line(zone: TimeZone, width: Int?) -> String {
        var keys = present.map { TerminalText.shown($0, width: 60) }
        if count == nil {
            keys = ["(many)"]
        } else if removed > 0 {
            keys.append(removed == 1 ? "(removed)" : "(\(Numbers.count(removed)) removed)")
        }
        let clock = Dates.clock(time, zone: zone) ?? "–"
        let number = DisplayWidth.padded(
            count.map(Numbers.count) ?? "",
            to: 4,
            isRight: true
        )
        let name = DisplayWidth.padded(TerminalText.shown(archive, width: 24), to: 16)
        let line = "\(clock)  \(name)  \(number)  \(keys.joined(separator: ", "))"
        return width.map { DisplayWidth.shortened(line, to: $0) } ?? line
    }
}
