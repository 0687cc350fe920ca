internal import ArgumentParser
internal import Foundation
internal import VellumFiles

/// `vellum restore`.
struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Put a backup in the place of a file.",
        discussion: """
            Checks every entry of the backup first, moves the old file aside with everything \
            beside it, and puts a copy of the backup in its place, in one step. The backup stays. \
            No program may have the file open.

            EXAMPLES
              vellum restore /backups/Archives-2026-03-01.sqlite Archives.sqlite
            """
    )

    @Argument(help: "The backup.", completion: .file(extensions: ["sqlite"])) var backup: String
    @Argument(
        help: "The file that it replaces. It may be missing.",
        completion: .file(extensions: ["sqlite"])
    ) var file: String
    @OptionGroup var yes: YesOption
    @OptionGroup var output: OutputOptions

    func run() throws {
        let console = Console.current
        let source = try Opening.url(backup, access: .reading)
        let target = URL(fileURLWithPath: file)
        try console.confirm(
            "Put \(console.path(source.path)) in the place of \(console.path(target.path))?",
            isAnswered: yes.yes
        )
        ToolLog.tell()
        let old = try ArchiveFile.restore(from: source, to: target)
        if output.json {
            return try console.print([
                "path": .text(target.path),
                "oldFile": .optional(old?.path, JSON.text),
            ])
        }
        let isOld = old.map { " The old file is \(console.path($0.path))" } ?? ""
        try console.print("\(console.path(target.path)) is restored.\(isOld)")
    }
}
