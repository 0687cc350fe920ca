internal import Foundation
internal import VellumFiles

/// Makes what is shown of what the library returns.
enum Reading {
    static func file(_ file: ArchiveFile) throws -> FileView {
        let summary = try file.summary()
        return FileView(
            path: file.url.path,
            kind: file.kind.rawValue,
            bytes: summary.size.bytes,
            logBytes: summary.logSize.bytes,
            unusedBytes: summary.unusedSize.bytes,
            isOpenElsewhere: summary.isOpenElsewhere,
            archives: try file.archives().map(archive)
        )
    }

    static func archive(_ archive: RawArchive) throws -> ArchiveView {
        ArchiveView(name: archive.name, summary: try archive.summary())
    }

    static func entry(_ entry: RawArchive.Entry, of archive: RawArchive) -> EntryView {
        EntryView(
            key: archive.text(ofKey: entry.key),
            bytes: entry.size,
            recorded: entry.recorded,
            expires: entry.expires,
            idle: entry.idle.map(seconds),
            lastUsed: entry.lastUsed,
            typeVersion: entry.typeVersion
        )
    }

    static func object(_ object: RawArchive.Object, of archive: RawArchive) -> ObjectView {
        ObjectView(key: archive.text(ofKey: object.entry.key), value: object.value)
    }

    static func report(
        _ file: ArchiveFile,
        made: Date,
        zone: TimeZone,
        redaction: Redaction?
    ) throws -> ReportView {
        let archives = try file.archives().map { raw in
            ReportView.Archive(
                archive: try archive(raw),
                statistics: try raw.statistics(),
                largest: try raw.entries(order: .size, limit: 5).map { entry($0, of: raw) }
            )
        }
        return ReportView(
            file: try self.file(file),
            archives: archives,
            made: made,
            zone: zone,
            redaction: redaction
        )
    }

    static func seconds(_ duration: Duration) -> Double {
        Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    }

    /// The query of a text.
    ///
    /// - Throws: A ``Failure`` that shows the place of a mistake.
    static func query(_ text: String, width: Int) throws -> Query {
        do {
            return try Query(text)
        } catch {
            throw Failure(
                .usage,
                "the query is wrong: \(TerminalText.shown(error.message, width: 200))",
                details: SyntaxMark.lines(text, offset: error.offset, width: width)
            )
        }
    }
}
