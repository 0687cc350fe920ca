package import Foundation
package import VellumCore

/// The result of ``DatabaseFile/verify()``.
package struct VerificationReport: Hashable, Sendable {
    /// The result for one archive of the file.
    package struct Archive: Hashable, Sendable {
        package var name: String
        /// The number of entries that match their checksums.
        package var soundEntries = 0
        /// The keys of the entries that do not match their checksums.
        package var damagedEntries: [EntryKey] = []
        /// Whether the stored totals match the entries.
        package var hasRightTotals = true
        /// Whether every entry has its place in the eviction order.
        package var hasRightOrder = true
        /// Whether the index, if there is one, covers exactly the entries.
        package var hasRightIndex = true
    }

    package var archives: [Archive] = []
    /// The structural problems that SQLite found, in its words.
    package var structuralProblems: [String] = []

    /// Whether no problem was found.
    package var isIntact: Bool { !needsSalvage && archives.allSatisfy(\.damagedEntries.isEmpty) }

    /// Whether there are problems other than damaged entries, so that the next opening must salvage
    /// the file.
    var needsSalvage: Bool {
        !structuralProblems.isEmpty
            || !archives.allSatisfy { $0.hasRightTotals && $0.hasRightOrder && $0.hasRightIndex }
    }
}

extension VerificationReport {
    /// Reads what can be read of a file that is too damaged to be opened. Changes nothing.
    package init(ofDamagedFileAt url: URL) throws(VellumError) {
        structuralProblems = ["The file is damaged where opening it begins."]
        let url = url.resolvingSymlinksInPath()
        do throws(SQLiteError) {
            try readPastDamage(of: url.path, access: .reading(at: url))
        } catch {
            throw VellumError(error).located(archive: nil, path: url.path)
        }
    }

    /// Reads the entries again, as salvaging does: past what cannot be read (decision 10). The
    /// report then has what would be salvaged.
    mutating func readPastDamage(
        of path: String,
        access: FileAccess
    ) throws(SQLiteError) {
        guard let source = try Recovery.openDamaged(path, access: access) else {
            return structuralProblems.append("The file was read until the damage.")
        }
        try source.execute(SQL.begin)
        Recovery.prepareForSalvage(source)
        let members = try SalvagedMembers(of: source)
        var read: [Archive] = []
        for (archive, found) in try Recovery.archives(in: source) {
            let entries = Salvage(
                source: source,
                archive: archive.number,
                // Which hash the keys have does not matter to the sum.
                checksum: Checksum(archiveName: archive.name, hash: .random()),
                cleared: found.cleared
            )
            var report = Archive(name: archive.name)
            while let batch = entries.next(512) {
                report.soundEntries += batch.count { members.groups(of: $0.entry) != nil }
            }
            report.damagedEntries = entries.damaged
            read.append(report)
            guard entries.hasGaps else { continue }
            structuralProblems.append(
                """
                The entries of '\(Log.displayed(archive.name))' were read past the damage: \
                those on pages that cannot be read are missing.
                """
            )
        }
        for known in archives {
            guard let index = read.firstIndex(where: { $0.name == known.name }) else { continue }
            read[index].hasRightTotals = known.hasRightTotals
            read[index].hasRightOrder = known.hasRightOrder
            read[index].hasRightIndex = known.hasRightIndex
        }
        archives = read
    }

    /// Reads the whole file.
    package init(reading connection: Connection) throws(SQLiteError) {
        do throws(SQLiteError) {
            let features = try Features(of: connection)
            let schema = try SchemaCheck(connection, mayHaveMoreTables: features.mayHaveMoreTables)
            try schema.run(features)
            guard schema.isWhole else { throw .corrupt("The file lacks a table or an index.") }
            try SQL.appendStructuralProblems(of: connection, to: &structuralProblems)
            let list = try connection.prepare(ArchiveTable.list)
            var found: [ArchiveTable.Found] = []
            while try list.step() {
                let archive = ArchiveTable.Listed(list)
                archives.append(.init(name: archive.name ?? ""))
                found.append(.init(id: archive.id, hash: archive.hash))
            }
            list.reset()
            guard try connection.int(EntryTable.unlistedCount) ?? 0 == 0 else {
                throw .corrupt(
                    "The file has entries of an archive that is missing from the list of archives."
                )
            }
            guard try connection.int(IndexTables.unlistedCount) ?? 0 == 0 else {
                throw .corrupt("The file has indexes that are missing from the list of indexes.")
            }
            let hasRemovals = try connection.int(Features.hasRemovals) ?? 0 > 0
            if hasRemovals { try RemovedTable.hide(on: connection) }
            for (index, found) in found.enumerated() {
                guard 1...EntryID.lastArchive ~= found.id else {
                    throw .corrupt("Invalid archive number.")
                }
                try Self.verify(&archives[index], found, connection)
                // What it says of rows is true when those of removed entries are deleted.
                if hasRemovals { archives[index].hasRightIndex = true }
            }
        } catch  where error.isDamage {
            structuralProblems.append(error.message)
        }
    }

    private static func verify(
        _ archive: inout VerificationReport.Archive,
        _ found: ArchiveTable.Found,
        _ connection: Connection
    ) throws(SQLiteError) {
        // Reads the archive's row, totals and policies as the writer does.
        _ = try ArchiveTable.find(archive.name, on: connection)
        let number = found.id
        let known = VellumEngine.Archive(found, name: archive.name)
        let tables = ArchiveTables(id: number, checksum: known.checksum, connection: connection)
        let checksum = known.checksum
        let contents = try tables.readContents(of: known)
        _ = try tables.allPolicies(of: known)

        let entries = try connection.prepare(EntryTable.after(number), contents.totals.cleared)
        var totals = StorageUsage()
        var indexed = try IndexedRows(of: number, on: connection)
        while try entries.step() {
            let parts = EntryParts(entries)
            totals.entries += 1
            totals.bytes += parts.bytes.count
            if parts.isIntact(checksum) {
                archive.soundEntries += 1
            } else {
                archive.damagedEntries.append(EntryKey(String(decoding: parts.key, as: UTF8.self)))
            }
            try indexed?.meet(parts.id)
        }
        let written = try tables.totals()
        archive.hasRightTotals = totals == written
        archive.hasRightOrder = try connection.int(RecencyTables.countMisplaced(number)) == 0
        archive.hasRightIndex =
            try IndexTables.agree(of: number, on: connection) && indexed?.isWithoutOrphans ?? true
    }
}
