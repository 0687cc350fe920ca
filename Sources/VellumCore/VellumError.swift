public import Foundation

/// The error of archives, caches and SQLite storages: what failed, what to do about it, and where.
///
/// ```swift
/// do {
///     try users.record(user)
/// } catch let error as VellumError where error.code == .tooLarge {
///     // The object is larger than every limit. The old object is still there.
/// }
/// ```
///
/// Its `description` names the archive or cache, the file, and SQLite's result code where there is one. It contains no key and no value;
/// `String(reflecting:)` adds the cause, which may.
public struct VellumError: LocalizedError, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// What kind of failure. Open: a later version may add codes, so a `switch` needs a default.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String

        package init(_ description: String) { self.description = description }

        /// The store was closed; open it again.
        public static let closed = Code("closed")
        /// A limit was zero or below.
        public static let invalidLimit = Code("invalidLimit")
        /// A duration was negative or not a number.
        public static let invalidDuration = Code("invalidDuration")
        /// The value is larger than every limit.
        public static let tooLarge = Code("tooLarge")
        /// The key is longer than ``EntryKey/maximumLength``.
        public static let keyTooLong = Code("keyTooLong")
        /// The value could not be encoded.
        public static let notEncodable = Code("notEncodable")
        /// The stored bytes could not be decoded as the type asked for.
        public static let notDecodable = Code("notDecodable")
        /// The file or its folder could not be made, opened or written.
        public static let cannotOpen = Code("cannotOpen")
        /// The file is no database at all; it was left untouched.
        public static let notADatabase = Code("notADatabase")
        /// The file is a database of another program; it was left untouched.
        public static let foreignFile = Code("foreignFile")
        /// The file holds something else than what it was opened for: caches instead of archives, say. It was left untouched.
        public static let wrongKind = Code("wrongKind")
        /// The file was written by a newer version of this package; it was left untouched.
        public static let newerFormat = Code("newerFormat")
        /// Parts of the file cannot be read.
        public static let damagedFile = Code("damagedFile")
        /// The entry does not match its checksum.
        public static let damagedEntry = Code("damagedEntry")
        /// There is no space left.
        public static let diskFull = Code("diskFull")
        /// The file cannot be written.
        public static let readOnly = Code("readOnly")
        /// Another process held the file for too long.
        public static let busy = Code("busy")
        /// The file was deleted, replaced or set aside while it was open.
        public static let vanished = Code("vanished")
        /// The file lies on a file system of another machine.
        public static let networkFileSystem = Code("networkFileSystem")
        /// The store was told to hold nothing for a while.
        public static let suspended = Code("suspended")
        /// The store was opened before this process was forked.
        public static let forked = Code("forked")
        /// The system failed to read or write.
        public static let inputOutput = Code("inputOutput")
        /// The same archive is already open with larger limits, another durability or for another type.
        public static let contradiction = Code("contradiction")
        /// A query asks for something that there cannot be, such as a negative limit.
        public static let invalidQuery = Code("invalidQuery")
        /// The condition of a query threw an error when it was asked of an object.
        public static let failedQuery = Code("failedQuery")
        /// Whoever asked does not want the answer any more.
        public static let cancelled = Code("cancelled")
        /// Writes of one transaction lie in different files.
        public static let differentFiles = Code("differentFiles")
        /// A loader waits for itself: it asks for the key that it loads, or for one whose loader asks for its own.
        public static let recursiveLoad = Code("recursiveLoad")
        /// A loader failed where nobody was waiting for it.
        public static let loadFailed = Code("loadFailed")
    }

    public var code: Code
    /// What failed and what to do about it, in a sentence or two.
    public var message: String
    /// The name of the archive or cache, where one is concerned.
    public var archive: String?
    /// The path of the file, where one is concerned.
    public var path: String?
    /// SQLite's extended result code (sqlite.org/rescode.html), where SQLite failed.
    public var sqliteCode: Int32?
    /// The underlying error, where there is one. It may contain keys and values.
    public var cause: (any Error)?

    package init(_ code: Code, _ message: String, path: String? = nil, sqliteCode: Int32? = nil, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.path = path
        self.sqliteCode = sqliteCode
        self.cause = cause
    }

    /// The error with the archive and the file it is about, where it does not name others.
    package func located(archive: String?, path: String?) -> VellumError {
        var error = self
        error.archive = self.archive ?? archive
        error.path = self.path ?? path
        return error
    }

    /// The code, the message, and where it happened.
    public var description: String { "\(code): \(located)" }

    /// The message, and where it happened.
    package var located: String {
        let location = [archive.map { "archive \($0)" }, path.map { "file \($0)" }, sqliteCode.map { "SQLite \($0)" }].compactMap(\.self)
        return location.isEmpty ? message : "\(message) (\(location.joined(separator: ", ")))"
    }

    /// The description and the cause.
    public var debugDescription: String {
        guard let cause else { return "VellumError(\(description))" }
        return "VellumError(\(description) Cause: \(String(reflecting: cause)))"
    }

    public var errorDescription: String? { description }
}

extension VellumError {
    /// What a face tells of ``StoreEvent/onNetwork``.
    package static let onNetwork = VellumError(
        .networkFileSystem, "The file lies on a network file system, where its locks cannot be trusted. Move it to a local disk.")

    /// What a handle that was closed answers.
    public static let closed = VellumError(.closed, "The archive was closed. Open it again.")

    /// An entry whose bytes are not those that were written.
    public static var corruptEntry: VellumError {
        VellumError(
            .damagedEntry, "An entry does not match its checksum: its bytes changed on disk. Record the object again, or delete it.")
    }
}
