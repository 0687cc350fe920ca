internal import Foundation
internal import Synchronization
internal import VellumCore

/// Opens a file that is only read. Nothing is created, renamed, repaired or marked: whatever is
/// wrong with the file is an error.
struct OpeningToRead {
    let url: URL
    let options: DatabaseFile.Options

    /// Opens the file and, if `isHeld`, counts a hold on it for the caller.
    func open(isHeld: Bool) throws(VellumError) -> DatabaseFile {
        var path = url.path
        do {
            guard FileIdentity(path: path) != nil || FileSystem.isLink(path) else {
                throw VellumError.missingAndOnlyRead
            }
            path = try FileSystem.resolved(path)
            let file = try open(path)
            if isHeld { file.holds.wrappingAdd(1, ordering: .acquiringAndReleasing) }
            return file
        } catch {
            throw located(error, path)
        }
    }

    private func open(_ path: String) throws -> DatabaseFile {
        try FilePaths.checkLength(path)
        try FilePaths.check(path)
        guard let identity = FileIdentity(path: path) else { throw VellumError.missingAndOnlyRead }
        try checkParts(of: path)
        return try FileRegistry.shared.opening(identity) {
            let sideFiles = ReadingSideFiles(besides: path)
            do {
                let connection = try Connection(path: path, access: options.access)
                try Schema.check(connection, options.kind)
                let changesFile = try ChangesFile()
                // What others announce is not seen: each snapshot is looked at.
                changesFile.page.beginRemovals()
                let location = FileLocation(
                    path,
                    identity,
                    changesFile,
                    access: options.access,
                    sideFiles: sideFiles
                )
                let file = try DatabaseFile(
                    location,
                    options.kind,
                    connection,
                    clock: options.clock
                )
                if options.access == .reading, FileSystem.isOnNetwork(path) {
                    file.opening.withLock { $0.events = [.onNetwork] }
                }
                return file
            } catch {
                sideFiles.remove()
                throw error
            }
        }
    }

    /// Checks what lies beside the database. SQLite would delete the log of an empty one, and roll
    /// a journal back.
    private func checkParts(of path: String) throws(VellumError) {
        let log = FileSystem.size(path + "-wal")
        guard FileSystem.size(path) >= FileHeader.size else {
            throw log > 0
                ? .damagedAndOnlyRead(nil)
                : VellumError(
                    .notADatabase,
                    "The file is too short for a database. It was not changed."
                )
        }
        guard FileSystem.size(path + "-journal") == 0 else {
            throw .isWritten("an interrupted transaction beside it")
        }
        if options.access == .shipped, log > 0 { throw .isWritten("a log beside it that has data") }
        // SQLite would make side files that belong to this user, and the owner's programs refuse
        // those of others.
        if geteuid() != 0, !options.access.isImmutable(path),
            FileIdentity(path: path + "-shm") == nil,
            let owner = OpeningProblem(path: path).owner, hasLog(path)
        {
            throw .belongs(to: owner)
        }
    }

    /// Whether SQLite reads the database with a log. Nobody has it open.
    private func hasLog(_ path: String) -> Bool {
        do {
            return try FileHeader.hasLog(path)
        } catch {
            return true
        }
    }

    /// Whether the header is damaged, and still says that the file is one of this package.
    private func hasOurHeader(_ path: String) -> Bool {
        // Closing a descriptor of a file that this process has open would drop its locks.
        guard let identity = FileIdentity(path: path), !OpenDatabases.shared.isOpen(identity) else {
            return false
        }
        do {
            return try FileHeader.isOurs(path, options.kind)
        } catch {
            return false
        }
    }

    private func located(_ error: any Error, _ path: String) -> VellumError {
        if let error = error as? SQLiteError, error.isCannotOpen || error.cannotMakeSideFiles,
            FileSystem.isReadable(path)
        {
            return VellumError.needsSideFiles(error).located(archive: nil, path: path)
        }
        let found = DatabaseFile.openingError(error, url)
        return
            (found.code == .damagedFile || found.code == .notADatabase && hasOurHeader(path)
            ? .damagedAndOnlyRead(found) : found)
            .located(archive: nil, path: path)
    }
}

extension VellumError {
    fileprivate static let missingAndOnlyRead = VellumError(
        .cannotOpen,
        "There is no file at the path, and a file that is only read is not created. Check the path."
    )

    /// The error of damage in a file that is only read.
    static func damagedAndOnlyRead(_ cause: VellumError?) -> VellumError {
        VellumError(
            .damagedFile,
            """
            Parts of the file cannot be read. It was not changed. Restore it from a backup, or \
            open it with ArchivesFactory(directory:), which moves it aside and copies what can be \
            read into a new file.
            """,
            sqliteCode: cause?.sqliteCode,
            cause: cause?.cause
        )
    }

    fileprivate static func isWritten(_ what: String) -> VellumError {
        VellumError(
            .cannotOpen,
            """
            The file has \(what): a program has it open, or was killed. It was not changed. Open \
            it with ArchivesFactory(directory:) and close it (try factory.close()), or ship the \
            file that backup(to:) makes.
            """
        )
    }

    fileprivate static func belongs(to owner: String) -> VellumError {
        VellumError(
            .cannotOpen,
            """
            The file belongs to the user \(owner), and SQLite needs side files to read it, which \
            would belong to this user. Run the program as \(owner), or read the file that \
            backup(to:) makes.
            """
        )
    }

    fileprivate static func needsSideFiles(_ cause: SQLiteError) -> VellumError {
        VellumError(
            .cannotOpen,
            """
            The file cannot be read: it has a log, for which SQLite needs side files in the \
            folder, where this user may not create them. Ship the file that backup(to:) makes, \
            which needs none, or change the permissions of the folder.
            """,
            sqliteCode: cause.code,
            cause: cause
        )
    }
}
