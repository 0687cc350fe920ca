internal import ArgumentParser
internal import Foundation
internal import VellumFiles

/// `vellum drop`.
struct DropCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop",
        abstract: "Delete an archive with all its entries.",
        discussion: """
            EXAMPLES
              vellum drop Archives.sqlite Airport
            """
    )

    @OptionGroup var archive: ArchiveArguments
    @OptionGroup var yes: YesOption
    @OptionGroup var output: OutputOptions

    func run() throws {
        let console = Console.current
        let (fullName, entries) = try Opening.archive(archive.archive, of: archive.path) {
            ($0.name, try $0.summary().entries)
        }
        let name = TerminalText.shown(fullName, width: 60)
        try console.confirm(
            "Delete the archive \(name) with \(Numbers.count(entries, "entry", "entries"))?",
            isAnswered: yes.yes
        )
        let wasThere = try Opening.file(archive.path, access: .writing) {
            try $0.drop(archiveNamed: fullName)
        }
        guard wasThere else { throw Failure(.nothing, "there is no archive \(name) any more") }
        if output.json {
            return try console.print((["removed": .integer(entries)] as JSON).line)
        }
        try console.print("\(name) deleted")
    }
}
