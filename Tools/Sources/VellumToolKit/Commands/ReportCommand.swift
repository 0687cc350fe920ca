internal import ArgumentParser
internal import Foundation
internal import VellumFiles

/// `vellum report`.
struct ReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Make a page about a file: sizes, ages, versions, indexes, limits.",
        discussion: """
            The page is one file without scripts, and loads nothing. With --redact it shows no key \
            and no folder: keys become short names, equal ones for equal keys, which differ in \
            each run. Names of archives and of indexed properties, and versions, stay. Values are \
            never shown.

            EXAMPLES
              vellum report Archives.sqlite -o report.html
              vellum report Archives.sqlite --redact >report.html
              vellum report Archives.sqlite --json | jq .statistics
            """
    )

    @OptionGroup var file: FileArgument
    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: "The file for the page.",
        completion: .file(extensions: ["html"])
    )
    var target: String?
    @Flag(help: "Leave keys and folders out.") var redact = false
    @OptionGroup var force: ForceOption
    @OptionGroup var output: OutputOptions

    func run() throws {
        let console = Console.current
        if target == nil, !output.json, console.surroundings.isOutputTerminal {
            throw Failure(.usage, "give -o report.html: a page does not belong onto a terminal")
        }
        if let target, !force.force { try OutputFile.checkIsFree(target) }
        let surroundings = console.surroundings
        let view = try Opening.file(file.file) { file in
            try Reading.report(
                file,
                made: surroundings.now,
                zone: surroundings.zone,
                redaction: redact ? Redaction() : nil
            )
        }
        let text =
            output.json
            ? (target == nil && surroundings.isOutputTerminal ? view.json.pretty : view.json.line)
                + "\n" : Page.html(view)
        guard let target else { return try console.write(Array(text.utf8)) }
        try OutputFile.write(Array(text.utf8), to: target, replaces: force.force)
        if console.outputWidth != nil { try console.print(console.path(target)) }
    }
}
