internal import ArgumentParser
internal import Foundation
internal import VellumFiles

/// `vellum backup`.
struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy a file as it is at one moment, while programs write to it.",
        discussion: """
            The copy is complete when its name appears, and only its owner may read it. vellum restore puts it back.

            EXAMPLES
              vellum backup Archives.sqlite /backups/Archives-2026-03-01.sqlite
            """)

    @OptionGroup var file: FileArgument
    @Argument(help: "The new file.", completion: .file()) var target: String
    @OptionGroup var force: ForceOption
    @OptionGroup var output: OutputOptions

    func run() throws {
        let console = Console.current
        if force.force {
            let copy = try OutputFile(target, replaces: true)
            try copy.finishing { try backup(to: copy.temporary, console: console) }
        } else {
            try OutputFile.checkIsFree(target)
            try backup(to: target, console: console)
        }
        let size = try FileSize.of(target)
        if output.json { return try console.print(["path": .text(target), "bytes": .integer(size)]) }
        if console.outputWidth != nil { try console.print("\(console.path(target)), \(Numbers.size(size))") }
    }

    private func backup(to path: String, console: Console) throws {
        let bar = ProgressBar("backup", console: console, unit: { Numbers.size($0) })
        defer { bar.end() }
        try Opening.file(file.file) { file in
            try Interrupts.shared.whileChecking { try file.backup(to: URL(fileURLWithPath: path)) { try bar.update($0) } }
        }
    }
}

/// `vellum restore`.
struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Put a backup in the place of a file.",
        discussion: """
            Checks every entry of the backup first, moves the old file aside with everything beside it, and puts a copy of the backup in its \
            place, in one step. The backup stays. No program may have the file open.

            EXAMPLES
              vellum restore /backups/Archives-2026-03-01.sqlite Archives.sqlite
            """)

    @Argument(help: "The backup.", completion: .file(extensions: ["sqlite"])) var backup: String
    @Argument(help: "The file that it replaces. It may be missing.", completion: .file(extensions: ["sqlite"])) var file: String
    @OptionGroup var yes: YesOption
    @OptionGroup var output: OutputOptions

    func run() throws {
        let console = Console.current
        let source = try Opening.url(backup, access: .reading)
        let target = URL(fileURLWithPath: file)
        try console.confirm("Put \(console.path(source.path)) in the place of \(console.path(target.path))?", isAnswered: yes.yes)
        ToolLog.tell()
        let old = try ArchiveFile.restore(from: source, to: target)
        if output.json { return try console.print(["path": .text(target.path), "oldFile": .optional(old?.path, JSON.text)]) }
        let isOld = old.map { " The old file is \(console.path($0.path))" } ?? ""
        try console.print("\(console.path(target.path)) is restored.\(isOld)")
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
