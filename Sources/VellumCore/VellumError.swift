public import Foundation

// Decision 43.

/// An error of an archive, a cache or an SQLite storage: what failed, what to do about it, and
/// where.
///
/// ```swift
/// do {
///     try users.record(user)
/// } catch let error as VellumError where error.code == .tooLarge {
///     // The object is larger than every limit.
///     // The object recorded before is still there.
/// }
/// ```
///
/// `description` names the archive or cache, the file, and SQLite's result code, if they are known.
/// It contains no key and no value; `String(reflecting:)` adds the cause, which may contain them.
public struct VellumError: LocalizedError, Sendable, CustomStringConvertible,
    CustomDebugStringConvertible
{
    /// The kind of failure. Later versions may add codes, so a `switch` needs a `default`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name of the code.
        public let description: String

        package init(_ description: String) { self.description = description }

        /// The store is closed. Open it again.
        public static let closed = Code("closed")
        /// A limit is zero or negative.
        public static let invalidLimit = Code("invalidLimit")
        /// An age is NaN, a jitter not from 0 to 1, or a `refreshAhead` not between 0 and 1.
        public static let invalidDuration = Code("invalidDuration")
        /// The version of a type is negative.
        public static let invalidVersion = Code("invalidVersion")
        /// The value is larger than every limit.
        public static let tooLarge = Code("tooLarge")
        /// The key has more than 64 KiB of UTF-8.
        public static let keyTooLong = Code("keyTooLong")
        /// The value could not be encoded.
        public static let notEncodable = Code("notEncodable")
        /// The stored bytes could not be decoded as the requested type.
        public static let notDecodable = Code("notDecodable")
        /// The object was recorded by a program with a newer version of its type.
        public static let newerVersion = Code("newerVersion")
        /// The file or its folder could not be created, opened or written.
        public static let cannotOpen = Code("cannotOpen")
        /// The file is not a database. It was not changed.
        public static let notADatabase = Code("notADatabase")
        /// The file is a database of another program. It was not changed.
        public static let foreignFile = Code("foreignFile")
        /// The file has another kind of contents, for example caches in place of archives. It was
        /// not changed.
        public static let wrongKind = Code("wrongKind")
        /// The file was written by a newer version of this package. It was not changed.
        public static let newerFormat = Code("newerFormat")
        /// Parts of the file cannot be read.
        public static let damagedFile = Code("damagedFile")
        /// The entry does not match its checksum.
        public static let damagedEntry = Code("damagedEntry")
        /// No space is left on the disk.
        public static let diskFull = Code("diskFull")
        /// The file cannot be written.
        public static let readOnly = Code("readOnly")
        /// Another process locked the file for too long.
        public static let busy = Code("busy")
        /// The file was deleted, replaced or moved while it was open.
        public static let vanished = Code("vanished")
        /// The file is on a network file system.
        public static let networkFileSystem = Code("networkFileSystem")
        /// The store is suspended and has released the file.
        public static let suspended = Code("suspended")
        /// The store was opened before this process was forked.
        public static let forked = Code("forked")
        /// Reading or writing failed in the system.
        public static let inputOutput = Code("inputOutput")
        /// The device is locked, and the protection of the file does not let it be read. Try again
        /// when it is unlocked.
        public static let deviceLocked = Code("deviceLocked")
        /// The cache was opened with another version, which removed its values. This handle finds
        /// nothing and stores nothing.
        public static let cacheVersionChanged = Code("cacheVersionChanged")
        /// The archive is already open with larger limits, another durability or another type.
        public static let contradiction = Code("contradiction")
        /// An index is of a property whose type cannot be indexed.
        public static let invalidIndex = Code("invalidIndex")
        /// A query is invalid, for example because of a negative limit.
        public static let invalidQuery = Code("invalidQuery")
        /// The condition of a query threw an error for an object.
        public static let failedQuery = Code("failedQuery")
        /// The caller cancelled the operation.
        public static let cancelled = Code("cancelled")
        /// The reads and writes of one transaction belong to different files.
        public static let differentFiles = Code("differentFiles")
        /// A loader waits for itself: it requests the key that it loads, directly or through other
        /// loaders.
        public static let recursiveLoad = Code("recursiveLoad")
        /// The closure of an update writes or updates the key that is being updated, or that of a
        /// transaction writes the file without it.
        public static let recursiveUpdate = Code("recursiveUpdate")
        /// A background load failed that no caller waited for.
        public static let loadFailed = Code("loadFailed")
    }

    /// The fields, apart from the error itself: it travels through every call that may fail, also
    /// where none does.
    private final class Fields: Sendable {
        let code: Code
        let message: String
        let archive: String?
        let path: String?
        let sqliteCode: Int32?
        let cause: (any Error)?

        init(
            _ code: Code,
            _ message: String,
            archive: String?,
            path: String?,
            sqliteCode: Int32?,
            cause: (any Error)?
        ) {
            self.code = code
            self.message = message
            self.archive = archive
            self.path = path
            self.sqliteCode = sqliteCode
            self.cause = cause
        }
    }

    private let fields: Fields

    /// The kind of failure.
    public var code: Code { fields.code }
    /// What failed and what to do about it, in one or two sentences.
    public var message: String { fields.message }
    /// The name of the archive or cache concerned; `nil` if there is none.
    public var archive: String? { fields.archive }
    /// The path of the file concerned; `nil` if there is none.
    public var path: String? { fields.path }
    /// SQLite's extended result code (sqlite.org/rescode.html); `nil` if SQLite did not fail.
    public var sqliteCode: Int32? { fields.sqliteCode }
    /// The underlying error; `nil` if there is none. It may contain keys and values.
    public var cause: (any Error)? { fields.cause }

    private init(_ fields: Fields) { self.fields = fields }

    package init(
        _ code: Code,
        _ message: String,
        path: String? = nil,
        sqliteCode: Int32? = nil,
        cause: (any Error)? = nil
    ) {
        self.init(
            Fields(code, message, archive: nil, path: path, sqliteCode: sqliteCode, cause: cause)
        )
    }

    /// Returns the error with the archive and file added, unless it already names others.
    package func located(archive: String?, path: String?) -> VellumError {
        VellumError(
            Fields(
                code,
                message,
                archive: self.archive ?? archive,
                path: self.path ?? path,
                sqliteCode: sqliteCode,
                cause: cause
            )
        )
    }

    /// The code, the message, and the location.
    public var description: String { "\(code): \(located)" }

    /// The message and the location.
    package var located: String {
        let location = [
            archive.map { "archive \($0)" }, path.map { "file \($0)" },
            sqliteCode.map { "SQLite \($0)" },
        ].compactMap(\.self)
        return location.isEmpty ? message : "\(message) (\(location.joined(separator: ", ")))"
    }

    /// The description and the cause.
    public var debugDescription: String {
        guard let cause else { return "VellumError(\(description))" }
        return "VellumError(\(description) Cause: \(String(reflecting: cause)))"
    }

    /// The message and the location, for `localizedDescription`: what happened stands first, and
    /// the code is left out.
    public var errorDescription: String? { located }
}

extension VellumError {
    /// The error that public storages report for ``StoreEvent/onNetwork``.
    package static let onNetwork = VellumError(
        .networkFileSystem,
        """
        The file lies on a network file system, where its locks cannot be trusted. Move it to a \
        local disk.
        """
    )

    /// The error of every call on a closed archive.
    public static let closed = VellumError(.closed, "The archive was closed. Open it again.")

    /// The error of an entry that does not match its checksum.
    public static var corruptEntry: VellumError {
        VellumError(
            .damagedEntry,
            """
            An entry does not match its checksum: its bytes changed on disk. Record the object \
            again, or delete it.
            """
        )
    }
}
