internal import ArgumentParser
internal import Foundation
internal import VellumFiles

/// `vellum export`.
struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write entries as lines of JSON.",
        discussion: """
            With -o, the lines are first written to FILE.part. An export that was killed goes on \
            with --resume, with the same archives and --values. Ctrl-C removes the part, unless \
            --resume was given. Where FILE.part is there, --force begins again. --values adds \
            each value as JSON, for other programs. With --redact, values and keys are left out: \
            a key becomes a short name, equal ones for equal keys, which differ in each run; \
            names of archives, sizes, dates and versions of types stay. Nothing can be imported \
            from that.

            EXAMPLES
              vellum export Archives.sqlite -o airports.jsonl --archive Airport
              vellum export Archives.sqlite | gzip >all.jsonl.gz
              vellum export Archives.sqlite -o all.jsonl --resume
            """
    )

    @OptionGroup var file: FileArgument
    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: "The file for the lines.",
        completion: .file()
    ) var target: String?
    @Option(help: "Only this archive. May be given several times.") var archive: [String] = []
    @Flag(help: "Add each value as JSON, too.") var values = false
    @Flag(help: "Leave values and keys out.") var redact = false
    @Flag(help: "Continue an export that was interrupted.") var resume = false
    @OptionGroup var force: ForceOption
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if resume, target == nil { throw ValidationError("--resume needs -o FILE.") }
        if redact, resume || values {
            throw ValidationError("--redact goes with neither --resume nor --values.")
        }
        if output.json, target == nil {
            throw ValidationError("--json says what was done, and needs -o FILE.")
        }
    }

    func run() throws {
        let console = Console.current
        guard let target else { return try exportToOutput(console) }
        try force.force ? OutputFile.checkIsNotInUse(target) : OutputFile.checkIsFree(target)
        let entries =
            try redact
            ? exportRedacted(to: target)
            : exportPart(of: target, console: console)
        if output.json {
            return try console.print([
                "path": .text(target),
                "entries": .integer(entries),
                "bytes": .integer(try FileSize.of(target)),
            ])
        }
        if console.outputWidth != nil {
            try console.print(
                "\(console.path(target)), \(Numbers.count(entries, "entry", "entries"))"
            )
        }
    }

    private func exportPart(of target: String, console: Console) throws -> Int {
        let part = target + ".part"
        if !resume, !force.force { try Self.checkIsFree(part) }
        let entries = try export(to: part, console: console, keepsPart: resume)
        try OutputFile.put(part, at: target, replaces: force.force)
        return entries
    }

    private static func checkIsFree(_ part: String) throws {
        do {
            try OutputFile.checkIsFree(part)
        } catch {
            let name = TerminalText.shown(part)
            throw Failure(
                .failed,
                """
                \(name) is there, of an export that was interrupted: --resume goes on, --force \
                begins again
                """
            )
        }
    }

    private func exportRedacted(to target: String) throws -> Int {
        var entries = 0
        try OutputFile(target, replaces: force.force).creating { descriptor in
            let stream = OutputStream(descriptor)
            entries = try redacted { try stream.write($0) }
            try stream.flush()
        }
        return entries
    }

    /// Writes lines without keys and values.
    private func redacted(_ write: ([UInt8]) throws -> Void) throws -> Int {
        try Opening.file(file.file) { file in
            try ProgressBar.during("export") { bar in
                try RedactedExport().write(file, archives: archive, bar: bar, to: write)
            }
        }
    }

    /// Writes the lines to the output, which is no terminal.
    private func exportToOutput(_ console: Console) throws {
        if console.surroundings.isOutputTerminal {
            throw Failure(.usage, "give -o FILE, or a pipe: an export has no form for a terminal")
        }
        if redact {
            _ = try redacted(console.write)
            return
        }
        try console.flush()
        do {
            _ = try export(console) { try $0.export(to: .standardOutput, $1, progress: $2) }
        } catch {
            throw Descriptors.isClosed(STDOUT_FILENO) ? ClosedOutput() : error
        }
    }

    /// Writes the lines to a file, and removes that if it fails.
    private func export(to path: String, console: Console, keepsPart: Bool) throws -> Int {
        if !keepsPart {
            try Self.removePart(path)
            Interrupts.shared.add(leftover: path)
        }
        defer { Interrupts.shared.forget(leftover: path) }
        do {
            return try export(console) {
                try $0.export(to: URL(fileURLWithPath: path), $1, progress: $2)
            }
        } catch {
            // What was made meanwhile is another's.
            let isOurs = (error as? VellumError)?.code != .cannotOpen
            if !keepsPart, isOurs { unlink(path) }
            throw error
        }
    }

    /// Removes what an interrupted export left. What else has that name is somebody's.
    private static func removePart(_ path: String) throws {
        let name = TerminalText.shown(path)
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        // A pipe would block.
        let isFile = status.st_mode & S_IFMT == S_IFREG
        let part = isFile ? FileHandle(forReadingAtPath: path) : nil
        let head = try part?.read(upToCount: 10)
        guard part != nil, "{\"vellum\":".utf8.starts(with: head ?? Data()) else {
            throw Failure(.failed, "\(name) is no part of an export: move it away")
        }
        guard unlink(path) == 0 || errno == ENOENT else {
            throw SystemFailure("replace \(name)", code: errno)
        }
    }

    private typealias Writing = (ArchiveFile.Progress) throws -> Void
    private typealias Export = (ArchiveFile, ArchiveFile.ExportOptions, Writing) throws ->
        ArchiveFile.Exported

    private func export(_ console: Console, _ write: Export) throws -> Int {
        var options = ArchiveFile.ExportOptions()
        options.includesJSON = values
        options.resumes = resume
        return try Opening.file(file.file) { file in
            if !archive.isEmpty {
                options.archives = try archive.map { try Opening.find($0, in: file).name }
            }
            let done = try ProgressBar.during("export") { try write(file, options, $0.update) }
            if done.damaged > 0 {
                console.writeError(
                    """
                    vellum: \
                    \(Numbers.count(done.damaged, "damaged entry was", "damaged entries were")) \
                    left out\n
                    """
                )
            }
            return done.entries
        }
    }
}
