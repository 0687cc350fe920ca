internal import ArgumentParser
internal import Foundation
internal import VellumFiles

/// `vellum get`.
struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Print the value of a key as JSON.",
        discussion: """
            With --json, what is known of the entry stands beside the value. With --escaped, \
            \\u{1B} in a key stands for that character, as in the lists that vellum prints.

            EXAMPLES
              vellum get Archives.sqlite Airport LSZH
              vellum get Archives.sqlite Airport LSZH | jq .name
              vellum get Archives.sqlite Airport LSZH --raw -o LSZH.cbor
            """
    )

    @OptionGroup var archive: ArchiveArguments
    @Argument(help: "The key.") var key: String
    @Flag(help: "The key is escaped as in a list.") var escaped = false
    @Flag(help: "The bytes as they were recorded. Not onto a terminal.") var raw = false
    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: "The file for the bytes.",
        completion: .file()
    ) var target: String?
    @OptionGroup var dates: DatesOption
    @OptionGroup var force: ForceOption
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if raw, output.json { throw ValidationError("--raw and --json are two forms: give one.") }
        if target != nil, !raw { throw ValidationError("-o is for --raw.") }
    }

    func run() throws {
        let key = escaped ? TerminalText.unescaped(self.key) : self.key
        if raw { return try writeRaw(key) }
        let console = Console.current
        let found = try Opening.archive(archive.archive, of: archive.path) {
            archive -> (String, EntryView, JSON)? in
            guard let key = try archive.key(ofText: key),
                let entry = try archive.entry(forKey: key),
                let value = try archive.value(forKey: key)
            else { return nil }
            return (
                archive.name, Reading.entry(entry, of: archive),
                .value(
                    value,
                    try dates.fields(of: archive)
                )
            )
        }
        guard let (archive, entry, value) = found else { throw missing(key) }
        if output.json {
            return try console.print(
                JSON.object(
                    [("archive", .text(archive))] + entry.members + [("value", value)]
                )
            )
        }
        try console.print(value)
    }

    private func writeRaw(_ key: String) throws {
        let console = Console.current
        if target == nil, console.surroundings.isOutputTerminal {
            throw Failure(
                .usage,
                "raw bytes do not belong onto a terminal: give -o FILE, or a pipe"
            )
        }
        if let target, !force.force { try OutputFile.checkIsFree(target) }
        let data = try Opening.archive(archive.archive, of: archive.path) {
            try $0.encodedData(forKey: $0.key(ofText: key) ?? key)
        }
        guard let data else { throw missing(key) }
        guard let target else { return try console.write(Array(data)) }
        try OutputFile.write(data, to: target, replaces: force.force)
    }

    private func missing(_ key: String) -> Failure {
        Failure(.nothing, "there is no entry \(TerminalText.shown(key, width: 60))")
    }
}
