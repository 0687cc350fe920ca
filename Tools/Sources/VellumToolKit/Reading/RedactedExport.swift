internal import Foundation
internal import VellumFiles

/// An export without values, whose keys are names of this run.
struct RedactedExport {
    private let redaction = Redaction()

    /// Writes the lines, and returns how many entries they have.
    ///
    /// - Parameter archives: The names of the archives; none for all.
    func write(
        _ file: ArchiveFile,
        archives names: [String],
        bar: ProgressBar,
        to output: ([UInt8]) throws -> Void
    ) throws -> Int {
        let archives =
            try names.isEmpty
            ? file.archives()
            : names.map {
                try Opening.find($0, in: file)
            }
        let total = try archives.reduce(0) {
            Numbers.sum($0, try $1.summary().entries)
        }
        func write(_ line: JSON) throws {
            try output(Array((line.line + "\n").utf8))
        }
        try write([
            "vellum": .integer(1),
            "kind": .text(file.kind.rawValue),
            "isRedacted": .bool(true),
        ])
        var entries = 0
        for archive in archives {
            try write(["archive": .text(archive.name)])
            try archive.forEachEntry { entry in
                entries += 1
                var view = Reading.entry(entry, of: archive)
                view.key = redaction.name(view.key)
                try write(view.json)
                if entries.isMultiple(of: 256) { try bar.update(completed: entries, of: total) }
            }
        }
        try write(["entries": .integer(entries)])
        return entries
    }
}
