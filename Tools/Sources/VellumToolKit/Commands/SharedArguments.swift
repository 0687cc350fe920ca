internal import ArgumentParser
internal import Foundation
internal import VellumFiles

/// The file of a command.
struct FileArgument: ParsableArguments {
    @Argument(
        help: "The file, or the folder of archives.",
        completion: .file(extensions: ["sqlite"])
    )
    var file: String
}

/// The file and the archive of a command.
struct ArchiveArguments: ParsableArguments {
    @OptionGroup var file: FileArgument

    @Argument(
        help:
            """
            The name of the archive or cache. Airport is Sample.Airport, too, if that is the only \
            one.
            """,
        completion: .custom { words, _, _ in ArchiveNames.complete(words) }
    )
    var archive: String

    var path: String { file.file }
}

/// The form of the output.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print JSON.")
    var json = false
}

/// Which numbers are dates.
struct DatesOption: ParsableArguments {
    @Option(help: "Fields that are dates, separated by commas. Those of indexes are known.")
    var dates: String?

    /// The fields that are dates, of an archive.
    func fields(of archive: RawArchive) throws -> Set<String> {
        try archive.dateFields().union(Fields.list(dates ?? ""))
    }
}

/// Whether to ask.
struct YesOption: ParsableArguments {
    @Flag(name: [.customShort("y"), .long], help: "Do not ask.")
    var yes = false
}

/// Whether an output may be replaced.
struct ForceOption: ParsableArguments {
    @Flag(help: "Replace the output if it exists.")
    var force = false
}

/// Names of archives for the shell.
enum ArchiveNames {
    /// The names in the file that is on the command line. Only names that no shell reads as
    /// something else.
    static func complete(_ words: [String]) -> [String] {
        let plain = CharacterSet(charactersIn: "a"..."z").union(.init(charactersIn: "A"..."Z"))
            .union(.init(charactersIn: "0"..."9"))
            .union(.init(charactersIn: "._-"))
        for word in words.dropFirst(2) where !word.hasPrefix("-") {
            do {
                let names = try Opening.file(word) { try $0.archives().map(\.name) }
                return names.filter {
                    $0.count <= 100 && !$0.hasPrefix("-")
                        && $0.unicodeScalars.allSatisfy(plain.contains)
                }
            } catch {
                continue
            }
        }
        return []
    }
}
