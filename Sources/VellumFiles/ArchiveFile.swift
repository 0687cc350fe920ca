public import Foundation
public import VellumCore
internal import VellumEngine

/// A file of archives, caches or a storage, without the types of what it holds.
public final class ArchiveFile: Sendable {
    /// What may be done with a file.
    public enum Access: Sendable {
        /// It is only read, also while programs have it open and write. Nothing beside it is created or changed but what SQLite needs to read.
        case reading
        /// It may be changed. Opening repairs a damaged file, as every program that opens it would.
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

    /// The sizes of a file.
    public struct Summary: Hashable, Sendable {
        /// The file, without its log.
        public var size: DataSize
        /// The log, whose content is copied into the file from time to time.
        public var logSize: DataSize
        /// What is in the file and not in use: it is given back to the disk in the background, or by ``ArchiveFile/compact()``.
        public var unusedSize: DataSize
        /// Whether a program has the file open.
        public var isOpenElsewhere: Bool
    }

    /// Where the file is.
    public let url: URL
    public let kind: Kind

    /// Opens a file that exists.
    public init(at url: URL, access: Access = .reading) throws(VellumError) { fatalError() }

    public func summary() throws(VellumError) -> Summary { fatalError() }

    /// The archives of the file, in the order of their creation.
    public func archives() throws(VellumError) -> [RawArchive] { fatalError() }

    /// The archive of that name; `nil` if there is none.
    public func archive(named name: String) throws(VellumError) -> RawArchive? { fatalError() }

    /// Deletes an archive with all its entries. Returns whether there was such an archive.
    public func drop(archiveNamed name: String) throws(VellumError) -> Bool { fatalError() }

    /// Closes the file.
    public func close() throws(VellumError) { fatalError() }

    /// The open file.
    var database: DatabaseFile { get throws(VellumError) { fatalError() } }

    // MARK: Checking and repairing

    /// What ``verify(progress:)`` has found.
    public struct Verification: Sendable {
        /// What SQLite, or this package, found wrong with the structure of the file, in words.
        public var problems: [String]
        /// The keys of the entries that do not match their checksums, by the name of their archive.
        public var damagedEntries: [String: [String]]
        /// How many entries are sound.
        public var soundEntries: Int
        /// Whether no problem was found.
        public var isIntact: Bool { problems.isEmpty && damagedEntries.isEmpty }
    }

    /// Reads the whole file and checks it. Changes nothing.
    public func verify() throws(VellumError) -> Verification { fatalError() }

    /// What ``salvage(at:)`` has done.
    public struct Salvage: Sendable {
        /// Where the damaged file was moved; `nil` if the file was intact and was left as it is.
        public var damagedFile: URL?
        /// How many entries were saved.
        public var entries: Int
    }

    /// Moves a damaged file aside, and copies what can be read of it into a new one.
    public static func salvage(at url: URL) throws(VellumError) -> Salvage { fatalError() }

    // MARK: Carrying away

    /// How far a long operation is.
    public struct Progress: Hashable, Sendable {
        /// What is done, in the unit of ``total``: bytes of a backup, entries of an export, bytes of an import.
        public var completed: Int
        public var total: Int
    }

    /// Writes entries as lines of JSON.
    ///
    /// - Parameters:
    ///   - archives: The names of the archives; `nil` for all.
    ///   - redacted: Whether values are left out.
    ///   - resuming: Whether a file that an interrupted export left is continued.
    public func export(
        to url: URL, archives: [String]? = nil, redacted: Bool = false, resuming: Bool = false,
        progress: (Progress) throws -> Void = { _ in }
    ) throws -> Int { fatalError() }

    /// Reads what ``export(to:archives:redacted:resuming:progress:)`` has written. Entries of the same keys are replaced.
    ///
    /// What an interrupted import has done is done again. Returns how many entries were recorded.
    public func `import`(from url: URL, progress: (Progress) throws -> Void = { _ in }) throws -> Int { fatalError() }

    // MARK: Watching

    /// What has changed in a file since the change before.
    public struct Change: Sendable {
        public var archive: String
        /// How many entries were written or removed, as far as that is known; `nil` for many.
        public var count: Int?
        /// The keys that are known: of entries that are there.
        public var present: [String]
        /// How many of the entries are gone.
        public var removed: Int
    }

    /// The changes that any program makes from now on. Ends when the task is cancelled or the file is gone.
    public func changes() -> AsyncThrowingStream<Change, any Error> { fatalError() }

    // MARK: Finding files

    /// The files of this user's programs in the folders where they are by default.
    public static func filesInDefaultFolders() -> [URL] { fatalError() }
}
