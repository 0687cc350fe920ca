internal import ArgumentParser
internal import Foundation
internal import VellumFiles

/// `vellum salvage`.
struct SalvageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "salvage",
        abstract: "Move a damaged file aside, and copy what can be read into a new one.",
        discussion: """
            An intact file is left as it is. Ask programs that have the file open to end first.

            EXAMPLES
              vellum verify Archives.sqlite || vellum salvage Archives.sqlite
            """
    )

    @OptionGroup var file: FileArgument
    @OptionGroup var yes: YesOption
    @OptionGroup var output: OutputOptions

    func run() throws {
        let console = Console.current
        let url = try Opening.url(file.file, access: .writing)
        let name = console.path(url.path)
        try console.confirm(
            "Move \(name) aside if it is damaged, and make it anew of what can be read?",
            isAnswered: yes.yes
        )
        let salvage = try ArchiveFile.salvage(at: url)
        if output.json {
            try console.print(
                [
                    "damagedFile": .optional(salvage.damagedFile?.path, JSON.text),
                    "salvaged": .integer(salvage.salvaged),
                    "wasDamaged": .bool(salvage.wasDamaged),
                    "isIntact": .bool(salvage.verification.isIntact),
                    "soundEntries": .integer(salvage.verification.soundEntries),
                ])
        } else {
            let sound = Numbers.count(
                salvage.verification.soundEntries,
                "sound entry",
                "sound entries"
            )
            if let damaged = salvage.damagedFile {
                let saved = Numbers.count(salvage.salvaged, "entry", "entries")
                try console.print(
                    "\(saved) saved. The damaged file is \(console.path(damaged.path))"
                )
            } else if salvage.wasDamaged {
                try console.print("The file was repaired in its place: \(sound).")
            } else {
                try console.print("intact: \(sound). Nothing was moved aside.")
            }
        }
        guard !salvage.verification.isIntact else { return }
        throw Failure(.damaged, "some entries are still damaged: vellum verify names them")
    }
}
