public import Foundation
public import VellumCore
internal import VellumEngine

/// A file of archives, caches or a storage, without the types of what it holds: to look into it, to
/// carry it away, and to repair it.
///
/// ```swift
/// let file = try ArchiveFile(at: url)
/// if let countries = try file.archive(named: "Country") {
///     try countries.find(where: { $0["continent"] == "Asia" }) { country in
///         print(country.value.json())
///     }
/// }
/// ```
///
/// Programs may have the file open at the same time. Calls block for the disk. Safe on any thread.
public final class ArchiveFile: Sendable {
    /// What may be done with a file.
    public enum Access: Sendable {
        /// It is only read: nothing is repaired, swept or created, apart from what SQLite needs
        /// beside a file that others write.
        case reading
        /// It may be changed. Opening repairs a damaged file, as in every program.
        case writing
    }

    /// What a file holds.
    public enum Kind: String, Sendable {
        /// Archives of Vellum.
        case archives
        /// Caches of MiniCache.
        case caches
        /// A storage of ShallowsSQLite.
        case storage
    }

    /// Where the file is, with every symbolic link resolved.
    public var url: URL { file.url }
    /// What the file holds.
    public let kind: Kind

    let file: DatabaseFile
    /// What keeps the file open; `nil` if a manager does.
    private let hold: FileHold?

    /// Opens a file that exists.
    ///
    /// - Throws: ``VellumError``: it is missing, no database, of another program or a newer
    ///   version, damaged, or cannot be read.
    public init(at url: URL, access: Access = .reading) throws(VellumError) {
        let kind = try FileKind.ofFile(at: url)
        let hold = try FileHold.open(
            at: url,
            kind: kind,
            access: access == .reading ? .reading(at: url) : .writing
        )
        file = hold.file
        self.hold = hold
        self.kind = Kind(kind)
    }

    /// The file of a manager, which stays open.
    init(_ file: DatabaseFile) {
        hold = nil
        kind = Kind(file.kind)
        self.file = file
    }

    /// Closes the file, unless it is that of a manager. Later calls throw
    /// ``VellumError/Code/closed``.
    ///
    /// - Throws: ``VellumError`` if the disk fails.
    public func close() throws(VellumError) { try hold?.close() }
}

extension ArchiveFile.Kind {
    init(_ kind: FileKind) {
        switch kind {
        case .archives: self = .archives
        case .caches: self = .caches
        case .storage: self = .storage
        }
    }
}

// MARK: Archives

extension ArchiveFile {
    /// Returns the archives of the file, in the order of their creation, also those that hold
    /// nothing, but none that was dropped.
    ///
    /// - Complexity: O(archives).
    /// - Throws: ``VellumError`` if the file cannot be read.
    public func archives() throws(VellumError) -> [RawArchive] {
        var archives: [RawArchive] = []
        for row in try file.storedArchives() where row.name != nil {
            let archive = RawArchive(row, in: file)
            // The row of one that was dropped stays.
            if !row.hasLimit, try archive.summary().entries == 0 { continue }
            archives.append(archive)
        }
        return archives
    }

    /// Returns the archive of that name; `nil` if there is none.
    ///
    /// - Complexity: O(archives).
    /// - Throws: ``VellumError`` if the file cannot be read.
    public func archive(named name: String) throws(VellumError) -> RawArchive? {
        let normal = EntryKey(name).normalized
        return try archives().first { $0.name == normal }
    }

    /// Deletes an archive with all its entries, its index and its limit, in one transaction. Their
    /// space is returned in the background.
    ///
    /// - Returns: Whether there was such an archive.
    /// - Complexity: O(log n).
    /// - Throws: ``VellumError``, with ``VellumError/Code/contradiction`` if this program has the
    ///   archive open.
    @discardableResult
    public func drop(archiveNamed name: String) throws(VellumError) -> Bool {
        try file.dropArchive(named: name)
    }

    /// The sizes of a file.
    public struct Summary: Hashable, Sendable {
        /// The file, without its log.
        public let size: DataSize
        /// The log, whose content is copied into the file from time to time.
        public let logSize: DataSize
        /// The part of the file that is in no use. It is returned to the file system in the
        /// background, or by ``ArchiveFile/compact()``.
        public let unusedSize: DataSize
        /// Whether another program has the file open.
        public let isOpenElsewhere: Bool
    }

    /// Returns the sizes of the file.
    ///
    /// - Throws: ``VellumError`` if the file cannot be read.
    public func summary() throws(VellumError) -> Summary {
        Summary(
            size: file.fileSize,
            logSize: file.logSize,
            unusedSize: try file.unusedSize(),
            isOpenElsewhere: file.isShared
        )
    }
}

// MARK: Checking and repairing

extension ArchiveFile {
    /// What ``ArchiveFile/verify()`` has found.
    public struct Verification: Hashable, Sendable {
        /// What is wrong with the structure of the file, in words; damaged entries apart.
        public let problems: [String]
        /// The keys of the entries that do not match their checksums, by the name of their archive.
        public let damagedEntries: [String: [String]]
        /// How many entries match their checksums.
        public let soundEntries: Int
        /// Whether no problem was found.
        public var isIntact: Bool { problems.isEmpty && damagedEntries.isEmpty }
    }

    /// Reads the whole file, in one snapshot, and checks its structure, the checksums of the
    /// entries, the totals, the eviction order and the indexes. Blocks nobody.
    ///
    /// Entries behind a part that cannot be read are read all the same, as salvaging does, so that
    /// as many are sound as would be saved. `problems` says which archives that concerns.
    ///
    /// - Complexity: O(size of the file).
    /// - Throws: ``VellumError`` if the disk fails.
    public func verify() throws(VellumError) -> Verification { Verification(try file.verify()) }

    /// Checks a file as ``verify()`` does, also one that is too damaged to be opened. Changes
    /// nothing.
    ///
    /// - Complexity: O(size of the file).
    /// - Throws: ``VellumError`` if there is no file of this package that can be read.
    public static func verify(at url: URL) throws(VellumError) -> Verification {
        do throws(VellumError) {
            let file = try ArchiveFile(at: url)
            let found = try file.verify()
            try file.close()
            return found
        } catch {
            guard error.code == .damagedFile else { throw error }
            return Verification(try VerificationReport(ofDamagedFileAt: url))
        }
    }

    /// What ``ArchiveFile/salvage(at:)`` has done.
    public struct Salvage: Hashable, Sendable {
        /// Whether the file was damaged.
        public let wasDamaged: Bool
        /// Where the damaged file is now; `nil` if none was, or it was repaired in its place.
        public let damagedFile: URL?
        /// How many entries were copied from it.
        public let salvaged: Int
        /// What is there now.
        public let verification: Verification
    }

    /// Checks a file, and repairs it as opening it would: a damaged one is moved aside, and what
    /// can be read of it copied to a new one.
    ///
    /// - Complexity: O(size of the file).
    /// - Throws: ``VellumError`` as opening does; with ``VellumError/Code/contradiction`` if this
    ///   program has the file open.
    public static func salvage(at url: URL) throws(VellumError) -> Salvage {
        guard DatabaseFile.opened(at: url) == nil else {
            throw VellumError(
                .contradiction,
                "The file is open in this program. Close it first.",
                path: url.path
            )
        }
        var events: [StoreEvent] = []
        var verification: Verification?
        var wasDamaged = false
        // The first reading marks what it finds, and the second opening repairs that.
        for _ in 0..<2 where verification?.problems.isEmpty != true {
            let file = try ArchiveFile(at: url, access: .writing)
            events += file.file.openingEvents
            verification = try file.verify()
            wasDamaged = wasDamaged || verification?.problems.isEmpty == false
            try file.close()
        }
        let aside = events.lazy.compactMap {
            if case .setAside(let url, let salvaged) = $0 { (url, salvaged) } else { nil }
        }.last
        let none = Verification(problems: [], damagedEntries: [:], soundEntries: 0)
        return Salvage(
            wasDamaged: wasDamaged || aside != nil,
            damagedFile: aside?.0,
            salvaged: aside?.1 ?? 0,
            verification: verification ?? none
        )
    }
}

extension ArchiveFile.Verification {
    fileprivate init(_ report: VerificationReport) {
        var problems = report.structuralProblems.flatMap { $0.components(separatedBy: "\n") }
        var damaged = [String: [String]]()
        for archive in report.archives {
            let name = Log.displayed(archive.name)
            if !archive.hasRightTotals {
                problems.append("The totals of '\(name)' are not those of its entries.")
            }
            if !archive.hasRightOrder {
                problems.append("The eviction order of '\(name)' is not that of its entries.")
            }
            if !archive.hasRightIndex {
                problems.append("The index of '\(name)' is not that of its entries.")
            }
            if !archive.damagedEntries.isEmpty {
                damaged[archive.name] = archive.damagedEntries.map(\.normalized)
            }
        }
        self.init(
            problems: problems,
            damagedEntries: damaged,
            soundEntries: report.archives.reduce(0) { $0 + $1.soundEntries }
        )
    }
}

// MARK: Finding files

extension ArchiveFile {
    /// Returns the files of this package in the folders that programs of this user have for caches,
    /// where managers put them by default.
    ///
    /// Reads the first bytes of files that may be some. Those that cannot be read are left out.
    ///
    /// - Complexity: O(files in the folder and in its folders).
    public static func filesInDefaultFolders() -> [URL] { files(in: FileSystem.cachesFolder) }

    package static func files(in folder: URL) -> [URL] {
        func contents(_ folder: URL) -> [URL] {
            do {
                return try FileManager.default.contentsOfDirectory(
                    at: folder,
                    includingPropertiesForKeys: nil
                )
            } catch {
                return []
            }
        }
        let all = contents(folder).flatMap {
            FileSystem.isFolder($0.path) ? contents($0) : [$0]
        }
        return all.filter { url in
            guard url.pathExtension == "sqlite" else { return false }
            do throws(VellumError) {
                return try FileKind.known(ofFileAt: url) != nil
            } catch {
                return false
            }
        }
        .sorted { $0.path < $1.path }
    }
}
