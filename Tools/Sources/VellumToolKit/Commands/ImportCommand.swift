internal import ArgumentParser
internal import Foundation
internal import VellumFiles

/// `vellum import`.
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Record the entries of an export. Entries of the same keys are replaced.",
        discussion: """
            An import that was interrupted is run again from the beginning.

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
                cannot read \(TerminalText.shown(input, width: 100)): \
                \(String(cString: strerror(errno)))
                """
            )
        }
        let bar = ProgressBar("import", console: console, unit: { Numbers.size($0) })
        defer { bar.end() }
        let entries = try Opening.file(file.file, access: .writing) { file in
            try Interrupts.shared.whileChecking {
                try file.import(from: URL(fileURLWithPath: input)) { try bar.update($0) }
            }
        }
        bar.end()
        if output.json { return try console.print(["entries": .integer(entries)]) }
        try console.print("\(Numbers.count(entries, "entry", "entries")) recorded")
    }
}
