internal import ArgumentParser
internal import Foundation
internal import VellumFiles

/// `vellum backup`.
struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy a file as it is at one moment, while programs write to it.",
        discussion: """
            The copy is complete when its name appears, and only its owner may read it. To restore it, put it in the place of the file \
            while no program has that open.

            EXAMPLES
              vellum backup Archives.sqlite /backups/Archives-2026-03-01.sqlite
            """)

    @OptionGroup var file: FileArgument
    @Argument(help: "The new file.", completion: .file()) var target: String
    @OptionGroup var force: ForceOption
    @OptionGroup var output: OutputOptions

    func run() throws {
        let console = Console.current
        let copy = try OutputFile(target, replaces: force.force)
        let bar = ProgressBar("backup", console: console, unit: { Numbers.count($0, "page", "pages") })
        defer { bar.end() }
        try Opening.file(file.file) { file in
            try copy.finishing {
                try Interrupts.shared.whileChecking {
                    try file.backup(to: URL(fileURLWithPath: copy.temporary)) { try bar.update($0) }
                }
                guard chmod(copy.temporary, 0o600) == 0 else { throw SystemFailure("protect the copy", code: errno) }
            }
        }
        bar.end()
        let size = try FileSize.of(target)
        if output.json { return try console.print(["path": .text(target), "bytes": .integer(size)]) }
        if console.outputWidth != nil { try console.print("\(console.path(target)), \(Numbers.size(size))") }
    }
}

/// `vellum compact`.
struct CompactCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact", abstract: "Give what a file does not use back to the disk.",
        discussion: """
            EXAMPLES
              vellum compact Archives.sqlite
            """)

    @OptionGroup var file: FileArgument
    @OptionGroup var output: OutputOptions

    func run() throws {
        let console = Console.current
        let (before, after) = try Opening.file(file.file, access: .writing) { file in
            let before = try file.summary().size.bytes
            try file.compact()
            return (before, try file.summary().size.bytes)
        }
        if output.json { return try console.print(["bytesBefore": .integer(before), "bytes": .integer(after)]) }
        try console.print("\(Numbers.size(before)) before, \(Numbers.size(after)) now")
    }
}

/// The size of a file.
enum FileSize {
    static func of(_ path: String) throws -> Int {
        var status = stat()
        guard stat(path, &status) == 0 else { throw SystemFailure("read \(TerminalText.shown(path, width: 100))", code: errno) }
        return Int(status.st_size)
    }
}
