internal import ArgumentParser
internal import Foundation
internal import VellumFiles

/// `vellum compact`.
struct CompactCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact",
        abstract: "Give what a file does not use back to the disk.",
        discussion: """
            EXAMPLES
              vellum compact Archives.sqlite
            """
    )

    @OptionGroup var file: FileArgument
    @OptionGroup var output: OutputOptions

    func run() throws {
        let console = Console.current
        let (before, after) = try Opening.file(file.file, access: .writing) { file in
            let before = try file.summary().size.bytes
            try file.compact()
            return (before, try file.summary().size.bytes)
        }
        if output.json {
            return try console.print(["bytesBefore": .integer(before), "bytes": .integer(after)])
        }
        try console.print("\(Numbers.size(before)) before, \(Numbers.size(after)) now")
    }
}
