internal import CSQLiteConfig
internal import Foundation
internal import VellumCore
internal import VellumEngine

/// The file into which a copy is written until it is whole: `copy` in a folder of its own beside
/// the target, `.vellum-backup-` and sixteen digits.
///
/// What a killed process left is known by where it lies: only a folder of that name, which belongs
/// to this user, is looked into, and a backup that is whole was never a folder. A name alone would
/// say nothing: users name their backups by digits, too.
struct UnfinishedCopy {
    let path: String
    private let folder: String
    /// Has a lock, so that no other backup takes the copy for one of a process that was killed.
    private let descriptor: Int32

    private static let prefix = ".vellum-backup-"
    private static let digits = 16
    private static let name = "/copy"

    /// Creates an empty file, and removes those of processes that were killed.
    static func create(beside target: String) throws -> UnfinishedCopy {
        let parent = FileSystem.folder(of: target)
        let number = String(UInt64.random(in: 0 ... .max), radix: 16)
        let folder =
            "\(parent)/\(prefix)" + String(repeating: "0", count: digits - number.count) + number
        let path = folder + name
        try FilePaths.checkLength(path)
        // Nobody sees it before it is locked.
        return try FileLock.hold(folderOf: target) {
            removeAbandoned(in: parent)
            let answer = folder.withCString { SystemCalls.makeFolder($0) }
            guard answer == 0 else { throw FileError(.makingFolder, answer, folder) }
            StandardStreams.hold()
            let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else {
                let error = FileSystem.lastError(.creating, path)
                removeFolder(folder)
                throw error
            }
            // A file system without such locks never gives one to others.
            _ = flock(descriptor, LOCK_EX | LOCK_NB)
            return UnfinishedCopy(path: path, folder: folder, descriptor: descriptor)
        }
    }

    private static func removeAbandoned(in parent: String) {
        guard case .value(let entries) = parent.withCString({ SystemCalls.list($0) }) else {
            return
        }
        for entry in entries where entry.kind == .folder && isOfCopy(entry.name) {
            let folder = parent + "/" + String(decoding: entry.name, as: UTF8.self)
            // The owner of another folder could lead us elsewhere.
            var status = stat()
            guard lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
                status.st_uid == geteuid()
            else { continue }
            let path = folder + name
            let descriptor = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            if descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
                _ = path.withCString { SystemCalls.unlink($0) }
            }
            if descriptor >= 0 { _ = SystemCalls.close(descriptor) }
            removeFolder(folder)
        }
    }

    private static func isOfCopy(_ name: [UInt8]) -> Bool {
        let hexadecimal = Set("0123456789abcdef".utf8)
        return name.starts(with: prefix.utf8) && name.count == prefix.utf8.count + digits
            && name.suffix(digits).allSatisfy(hexadecimal.contains)
    }

    /// Says in the header that the database has no log (sqlite.org/fileformat2.html, 1.3.3), so
    /// that SQLite reads it without side files. No connection has it open.
    func withoutLog() throws(FileError) {
        guard pwrite(descriptor, [1, 1] as [UInt8], 2, 18) == 2 else {
            throw FileSystem.lastError(.writing, path)
        }
    }

    func sync(by files: FileSystem) throws(FileError) {
        let answer = files.call.sync(descriptor, .creating)
        guard answer == 0 else { throw FileError(.syncing, answer, path) }
    }

    /// Gives the file a name, if that is not taken.
    func move(to target: String) throws(FileError) {
        var code = vellum_rename_new(path, target)
        // Such a file system may have hard links. A process that is killed in between leaves both
        // names.
        if code == ENOTSUP {
            code = link(path, target) == 0 ? unlink(path) == 0 ? 0 : errno : errno
        }
        guard code == 0 else { throw FileError(.renaming, code, target) }
    }

    /// Closes the file, and removes what was not moved.
    func close() {
        _ = path.withCString { SystemCalls.unlink($0) }
        Self.removeFolder(folder)
        _ = SystemCalls.close(descriptor)
    }

    /// Removes a folder that is empty.
    private static func removeFolder(_ folder: String) {
        _ = folder.withCString { SystemCalls.removeFolder($0) }
    }
}
