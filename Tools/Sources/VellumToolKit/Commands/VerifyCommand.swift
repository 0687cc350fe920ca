internal import ArgumentParser
internal import Foundation
internal import VellumFiles

/// `vellum verify`.
struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Read a whole file and check it. Changes nothing.",
        discussion: """
            Compares each entry with its checksum, and has SQLite check the structure. Of a \
            damaged file it counts what salvage would save. The exit status is 4 if anything is \
            damaged.

            EXAMPLES
              vellum verify Archives.sqlite
              vellum verify --json Archives.sqlite | jq .isIntact
            """
    )

    @OptionGroup var file: FileArgument
    @OptionGroup var output: OutputOptions

    func run() throws {
        let console = Console.current
        let found = try ArchiveFile.verify(at: Opening.url(file.file, access: .reading))
        let damaged = found.damagedEntries.sorted { $0.key < $1.key }
        if output.json {
            let archives = damaged.map {
                [
                    "archive": .text($0.key),
                    "keys": .array($0.value.map(JSON.text)),
                ] as JSON
            }
            try console.print(
                [
                    "isIntact": .bool(found.isIntact),
                    "soundEntries": .integer(found.soundEntries),
                    "problems": .array(found.problems.map(JSON.text)),
                    "damagedEntries": .array(archives),
                ])
        } else {
            for problem in found.problems {
                try console.print(TerminalText.shown(problem, width: console.outputWidth ?? 400))
            }
            for (archive, keys) in damaged {
                try console.print(
                    """
                    \(TerminalText.shown(archive, width: 60)): \
                    \(Numbers.count(keys.count, "damaged entry", "damaged entries"))
                    """
                )
                for key in keys {
                    try console.print(
                        "  " + TerminalText.shown(key, width: (console.outputWidth ?? 400) - 2)
                    )
                }
            }
            let word =
                found.isIntact ? console.styled("intact", .bold) : console.styled("damaged", .red)
            try console.print(
                "\(word): \(Numbers.count(found.soundEntries, "sound entry", "sound entries"))"
            )
        }
        if !found.isIntact { throw Failure(.damaged, nil) }
    }
}
