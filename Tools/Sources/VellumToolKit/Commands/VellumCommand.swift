internal import ArgumentParser

/// The command `vellum`.
struct VellumCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vellum",
        abstract:
            "Looks into files of Vellum, MiniCache and ShallowsSQLite, and carries them away.",
        usage: """
            vellum [--json]
            vellum <command> <file> [<arguments>] [<options>]
            """,
        discussion: """
            Without a command it lists the files in the folders where programs keep them by default.

            EXAMPLES
              vellum
              vellum ls ~/.cache/Airports/Archives.sqlite
              vellum find Archives.sqlite Airport 'country == "CH" sort name'

            EXIT STATUS
              0  done
              1  nothing was found: no such archive, key or file, or nothing matches
              2  the command line or the query is wrong
              3  the file cannot be used: not there, no permission, not Vellum's, newer
              4  the file or an entry is damaged
              5  another program keeps the file locked
              6  cancelled
              7  reading or writing failed: no space, the output file exists

            Only delete, drop, import, compact, salvage and restore change a file. Colours are \
            used on a terminal, and not with NO_COLOR. Everything that a file contains is printed \
            with control characters as \\u{…}.
            """,
        version: "2.0.0",
        subcommands: [
            FilesCommand.self, LsCommand.self, KeysCommand.self, GetCommand.self, FindCommand.self,
            WatchCommand.self, ReportCommand.self,
            VerifyCommand.self, SalvageCommand.self, BackupCommand.self, RestoreCommand.self,
            ExportCommand.self, ImportCommand.self,
            DeleteCommand.self,
            DropCommand.self, CompactCommand.self,
        ],
        defaultSubcommand: FilesCommand.self
    )

}
