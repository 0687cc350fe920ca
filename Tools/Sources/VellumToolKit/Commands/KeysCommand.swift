internal import ArgumentParser
internal import Foundation
internal import VellumFiles

/// `vellum keys`.
struct KeysCommand: ParsableCommand {
    /// The order of the list.
    enum Order: String, ExpressibleByArgument, CaseIterable {
        case recorded, use, size

        var raw: RawArchive.Order {
            switch self {
            case .recorded: .recorded
            case .use: .use
            case .size: .size
            }
        }
    }

    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "List the keys of an archive.",
        discussion: """
            EXAMPLES
              vellum keys Archives.sqlite Airport --prefix LS
              vellum keys Archives.sqlite Airport --by size --limit 10 --long
              vellum keys --json Archives.sqlite Airport | jq -r .key
            """
    )

    @OptionGroup var archive: ArchiveArguments
    @Option(help: "Only keys that begin with this.") var prefix = ""
    @Option(help: "At most so many.") var limit: Int?
    @Option(
        name: .customLong("by"),
        help: "The order: as recorded, by use (the newest first), by size (the largest first)."
    )
    var order = Order.recorded
    @Flag(name: .shortAndLong, help: "Sizes and dates, too.") var long = false
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("The limit is negative.") }
    }

    func run() throws {
        let console = Console.current
        let count = try Opening.archive(archive.archive, of: archive.path) { archive in
            if order == .recorded, limit == nil, !(long && !output.json) {
                return try stream(archive, to: console)
            }
            let entries = try archive.entries(
                withPrefix: prefix,
                order: order.raw,
                limit: limit ?? .max
            ).map { Reading.entry($0, of: archive) }
            if long, !output.json {
                if !entries.isEmpty {
                    try console.print(Self.table(entries, zone: console.surroundings.zone))
                }
            } else {
                for entry in entries { try console.print(line(entry, width: console.outputWidth)) }
            }
            return entries.count
        }
        if count == 0 { throw Failure(.nothing, output.json ? nil : "no such key") }
    }

    /// Prints all entries as they are read, and returns how many there were.
    private func stream(_ archive: RawArchive, to console: Console) throws -> Int {
        var count = 0
        try archive.forEachEntry(withPrefix: prefix) { entry in
            count += 1
            try console.print(line(Reading.entry(entry, of: archive), width: console.outputWidth))
        }
        return count
    }

    private func line(_ entry: EntryView, width: Int?) -> String {
        output.json ? entry.json.line : Self.line(entry.key, width: width)
    }

    private static func line(_ key: String, width: Int?) -> String {
        width.map { TerminalText.shown(key, width: $0) } ?? TerminalText.escaped(key)
    }

    static func table(_ entries: [EntryView], zone: TimeZone) -> Table {
        let local = { (date: Date) in Dates.local(date, zone: zone) ?? "–" }
        var table = Table([
            .text("key", minimum: 10),
            .number("bytes"),
            .fixed("recorded"),
            .fixed("last used"),
        ])
        let hasExpiration = entries.contains { $0.expires != nil || $0.idle != nil }
        if hasExpiration { table.columns.append(.fixed("expires")) }
        table.rows = entries.map { entry in
            let expires =
                entry.expires.map(local) ?? entry.idle.map { "\(Numbers.seconds($0)) unused" } ?? ""
            return [
                entry.key,
                Numbers.size(entry.bytes),
                local(entry.recorded),
                local(entry.lastUsed),
            ] + (hasExpiration ? [expires] : [])
        }
        return table
    }
}
