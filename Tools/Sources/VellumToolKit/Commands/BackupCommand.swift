internal import ArgumentParser
internal import Foundation
internal import VellumFiles

/// `vellum backup`.
struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy a file as it is at one moment, while programs write to it.",
        discussion: """
            The copy is complete when its name appears, and only its owner may read it. vellum \
            restore puts it back.

            EXAMPLES
              vellum backup Archives.sqlite /backups/Archives-2026-03-01.sqlite
            """
    )

    @OptionGroup var file: FileArgument
    @Argument(help: "The new file.", completion: .file()) var target: String
    @OptionGroup var force: ForceOption
    @OptionGroup var output: OutputOptions

    func run() throws {
        let console = Console.current
        if force.force {
            try checkIsAnother()
            let copy = try OutputFile(target, replaces: true)
            try copy.finishing { try backup(to: copy.temporary) }
        } else {
            try OutputFile.checkIsFree(target)
            try backup(to: target)
        }
        let size = try FileSize.of(target)
        if output.json {
            return try console.print(["path": .text(target), "bytes": .integer(size)])
        }
        if console.outputWidth != nil {
            try console.print("\(console.path(target)), \(Numbers.size(size))")
        }
    }

    /// A file that is put in its own place while programs write to it would lose what they wrote
    /// meanwhile.
    private func checkIsAnother() throws {
        var source = stat()
        var copy = stat()
        guard
            stat(
                try Opening.url(file.file, access: .reading).path,
                &source
            ) == 0,
            stat(target, &copy) == 0,
            source.st_dev == copy.st_dev, source.st_ino == copy.st_ino
        else { return }
        throw Failure(
            .failed,
            "\(TerminalText.shown(target)) is the file itself: give another name"
        )
    }

    private func backup(to path: String) throws {
        try Opening.file(file.file) { file in
            try ProgressBar.during("backup", unit: Numbers.size) { bar in
                try file.backup(to: URL(fileURLWithPath: path), progress: bar.update)
            }
        }
    }
}
