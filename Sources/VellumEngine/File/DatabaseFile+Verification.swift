package import VellumCore

/// What ``DatabaseFile/verify()`` found.
package struct VerificationReport: Hashable, Sendable {
    /// One archive of the file.
    package struct Archive: Hashable, Sendable {
        package var name: String
        /// Entries that match their checksums.
        package var soundEntries = 0
        /// Entries that do not.
        package var damagedEntries: [EntryKey] = []
        /// Whether the archive's totals are those of its entries.
        package var hasRightTotals = true
        /// Whether every entry has its place in the order of use.
        package var hasRightOrder = true
        /// Whether the index, if there is one, has a place for every entry and for nothing else.
        package var hasRightIndex = true
    }

    package var archives: [Archive] = []
    /// What SQLite found wrong with the structure of the file, in its own words.
    package var structuralProblems: [String] = []

    /// Whether nothing is wrong.
    package var isIntact: Bool { !mustBeMadeAnew && archives.allSatisfy(\.damagedEntries.isEmpty) }

    /// Whether more is wrong than entries that can be recorded again.
    var mustBeMadeAnew: Bool {
        !structuralProblems.isEmpty || !archives.allSatisfy { $0.hasRightTotals && $0.hasRightOrder && $0.hasRightIndex }
    }
}

extension DatabaseFile {
    /// Reads everything and tells what is wrong: the structure of the file (SQLite's `integrity_check`), every entry's
    /// checksum, the totals and the places in the index. Changes nothing, blocks no one, and reads one snapshot. If more is wrong
    /// than single entries, the next opening salvages what can be read.
    ///
    /// - Complexity: O(size of the file).
    package func verify() throws(VellumError) -> VerificationReport {
        try withUsableFile { () throws(SQLiteError) in
            try commitBatch()
            let connection = try Connection(path: path)
            try connection.execute(SQL.readerSettings)
            try connection.execute(SQL.begin)
            let report = try Self.report(reading: connection)
            if report.mustBeMadeAnew {
                if let failure = connection.readFailure() { throw failure }
                Recovery.markDamaged(path)
            }
            return report
        }
    }

    /// What there is to tell of the file that a connection reads.
    static func report(reading connection: Connection) throws(SQLiteError) -> VerificationReport {
        var report = VerificationReport()
        do throws(SQLiteError) {
            try SchemaCheck(connection).run()
            try SQL.appendStructuralProblems(of: connection, to: &report.structuralProblems)
            let list = try connection.prepare(ArchiveTable.list)
            var numbers: [Int64] = []
            while try list.step() {
                let archive = ArchiveTable.Listed(list)
                report.archives.append(.init(name: archive.name ?? ""))
                numbers.append(archive.id)
            }
            list.reset()
            guard try connection.int(EntryTable.count) ?? 0 == numbers.count else {
                throw SQLiteError(code: SQLiteError.corrupt, message: "There are archives that the list of archives does not name.")
            }
            guard try connection.int(IndexTables.unlistedCount) ?? 0 == 0 else {
                throw SQLiteError(code: SQLiteError.corrupt, message: "There are indexes that the list of indexes does not name.")
            }
            for (index, number) in numbers.enumerated() {
                guard number > 0 else { throw SQLiteError(code: SQLiteError.corrupt, message: "Invalid number of an archive.") }
                try verify(&report.archives[index], number, connection)
            }
        } catch  where error.isDamage {
            report.structuralProblems.append(error.message)
        }
        return report
    }

    private static func verify(
        _ archive: inout VerificationReport.Archive, _ number: Int64, _ connection: Connection
    ) throws(SQLiteError) {
        // What it is described by, as whoever writes reads it.
        let writer = ArchiveWriter(id: number, name: archive.name, connection: connection)
        try writer.load()
        _ = try writer.allPolicies()

        let checksum = Checksum(archiveName: archive.name)
        let entries = try connection.prepare(EntryTable.after(number))
        entries.bind(.min, at: 1)
        var totals = StorageUsage()
        while try entries.step() {
            let row = EntryRow(entries)
            let (entry, key) = (row.entry, row.keyBytes)
            totals.entries += 1
            totals.bytes += entry.bytes.count
            if checksum.of(entry, key: key) == entry.revision {
                archive.soundEntries += 1
            } else {
                archive.damagedEntries.append(EntryKey(String(decoding: key, as: UTF8.self)))
            }
        }
        let written = try ArchiveReader(id: number, checksum: checksum, connection: connection).totals()
        archive.hasRightTotals = totals == written
        archive.hasRightOrder = try connection.int(RecencyTables.countMisplaced(number)) == 0
        archive.hasRightIndex = try IndexTables.agree(of: number, on: connection)
    }
}
