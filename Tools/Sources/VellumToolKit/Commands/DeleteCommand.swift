internal import ArgumentParser
internal import Foundation
internal import VellumFiles

/// `vellum delete`.
struct DeleteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete entries.",
        discussion: """
            Says how many entries there are and asks. Without a terminal it needs --yes. Programs \
            that have the file open see that the entries are gone.

            EXAMPLES
              vellum delete Archives.sqlite Airport LSZH LSGG
              vellum delete Archives.sqlite Airport --where 'country == "CH"'
            """
    )

    @OptionGroup var archive: ArchiveArguments
    @Argument(help: "The keys.") var keys: [String] = []
    @Option(name: .customLong("where"), help: "Delete what this query finds.") var query: String?
    @Flag(help: "The keys are escaped as in a list.") var escaped = false
    @OptionGroup var yes: YesOption
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if keys.isEmpty == (query == nil) { throw ValidationError("Give keys, or --where QUERY.") }
    }

    func run() throws {
        let console = Console.current
        let query = try self.query.map {
            try Reading.query($0, width: console.surroundings.width)
        }
        // Asked before the file is opened for writing, which may repair it.
        let (fullName, found) = try Opening.archive(archive.archive, of: archive.path) {
            ($0.name, try matching(in: $0, query))
        }
        guard !found.isEmpty else { throw Failure(.nothing, "nothing to delete") }
        let name = TerminalText.shown(fullName, width: 60)
        try console.confirm(
            "Delete \(Numbers.count(found.count, "entry", "entries")) of \(name)?",
            isAnswered: yes.yes
        )
        let removed = try Opening.archive(fullName, of: archive.path, access: .writing) {
            try $0.remove(keys: found)
        }
        if output.json {
            return try console.print((["removed": .integer(removed)] as JSON).line)
        }
        try console.print("\(Numbers.count(removed, "entry", "entries")) deleted")
    }

    private func matching(in archive: RawArchive, _ query: Query?) throws -> [String] {
        var found: [String] = []
        if let query {
            try query.find(in: archive) { found.append($0.entry.key) }
            return found
        }
        var seen: Set<String> = []
        for key in keys {
            let text = escaped ? TerminalText.unescaped(key) : key
            guard let key = try archive.key(ofText: text), seen.insert(key).inserted else {
                continue
            }
            found.append(key)
        }
        return found
    }
}
