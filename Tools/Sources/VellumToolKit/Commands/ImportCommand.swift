internal import ArgumentParser
internal import Foundation
internal import VellumFiles

/// `vellum import`.
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Record the entries of an export. Entries of the same keys are replaced.",
        discussion: """
            Limits of archives hold, and what they remove is said. An import that was interrupted \
            is run again from the beginning.

            EXAMPLES
              vellum import Archives.sqlite airports.jsonl
            """
    )

    @OptionGroup var file: FileArgument
    @Argument(help: "The file that vellum export has written.", completion: .file()) var input:
        String
    @OptionGroup var output: OutputOptions

    func run() throws {
        let console = Console.current
        guard access(input, R_OK) == 0 else {
            throw Failure(
                .unusable,
                """
                cannot read \(TerminalText.shown(input)): \
                \(String(cString: strerror(errno)))
                """
            )
        }
        let done = try Opening.file(file.file, access: .writing) { file in
            try ProgressBar.during("import", unit: Numbers.size) { bar in
                try file.importEntries(
                    from: URL(fileURLWithPath: input),
                    progress: bar.update
                )
            }
        }
        let limits = done.limits.sorted { $0.key < $1.key }
        if output.json {
            let removed = limits.map { name, limit in
                ["archive": .text(name), "limitBytes": .integer(limit.bytes)] as JSON
            }
            return try console.print([
                "entries": .integer(done.entries),
                "kept": .integer(done.kept),
                "limits": .array(removed),
            ])
        }
        let recorded = "\(Numbers.count(done.entries, "entry", "entries")) recorded"
        guard done.kept < done.entries else { return try console.print(recorded) }
        try console.print("\(recorded), of which \(Numbers.count(done.kept)) are there now")
        for (name, limit) in limits {
            let archive = TerminalText.shown(name, width: 60)
            try console.print("\(archive) keeps at most \(Numbers.size(limit.bytes)), its limit")
        }
    }
}
