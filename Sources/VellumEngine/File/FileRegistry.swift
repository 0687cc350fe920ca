internal import Foundation
package import VellumCore

/// The files that this process has open, so that all handles on one file share one
/// ``DatabaseFile``.
package final class FileRegistry: Sendable {
    package static let shared = FileRegistry()

    // A class, because an optional struct with a weak reference is misread by the compiler of Swift
    // 6.3.
    private final class Weak {
        weak var file: DatabaseFile?
        let id: ObjectIdentifier
        let location: FileLocation

        init(_ file: DatabaseFile) {
            self.file = file
            id = ObjectIdentifier(file)
            location = file.location
        }
    }

    private let files = Locked<[FileIdentity: Weak]>([:])
    /// Held while a file is opened or closed.
    package let opening = Locked(())

    /// Returns the open file, or opens it. Files are opened one at a time.
    ///
    /// - Parameter holding: Called with the file under the opening lock, so that the file cannot be
    ///   closed meanwhile.
    func file(
        _ identity: () throws -> FileIdentity,
        open: (FileIdentity) throws -> DatabaseFile,
        holding: (DatabaseFile) throws -> Void
    ) throws -> DatabaseFile {
        try opening.withLongLock { _ in
            let identity = try identity()
            // SQLite keeps a file's locks per process, so a forked child would use those of its
            // parent, even after releasing the file.
            guard files.withLock({ $0[identity]?.location.isOfThisProcess ?? true }) else {
                throw VellumError.forked
            }
            if let file = files.withLock({ $0[identity]?.file }), try isAtItsPath(file) {
                try holding(file)
                return file
            }
            let file = try open(identity)
            try holding(file)
            // Opening may have replaced a damaged file with a new one.
            files.withLock { $0[file.location.identity] = Weak(file) }
            return file
        }
    }

    /// Runs `open` while no file is opened or closed.
    ///
    /// - Throws: ``VellumError/Code/forked`` if the process of which this one is a copy had the
    ///   file open.
    func opening(_ identity: FileIdentity, _ open: () throws -> DatabaseFile) throws -> DatabaseFile
    {
        try opening.withLongLock { _ in
            guard files.withLock({ $0[identity]?.location.isOfThisProcess ?? true }) else {
                throw VellumError.forked
            }
            return try open()
        }
    }

    /// Returns the file at the path, if this process has it open.
    func opened(_ path: String) -> DatabaseFile? {
        guard let identity = FileIdentity(path: path),
            let file = files.withLock({ $0[identity]?.file })
        else { return nil }
        return file.isClosed ? nil : file
    }

    /// The open files.
    var openedFiles: [DatabaseFile] {
        files.withLock { $0.values.compactMap(\.file) }.filter { !$0.isClosed }
    }

    /// Whether the file is still there: another may have the number of one that was deleted.
    private func isAtItsPath(_ file: DatabaseFile) throws(VellumError) -> Bool {
        do throws(VellumError) {
            try file.checkLocation()
            return true
        } catch {
            guard error.code == .vanished else { throw error }
            return false
        }
    }

    func remove(_ file: DatabaseFile) {
        let identity = file.location.identity
        files.withLock { files in
            // Another open file may have replaced it already. Compared by identifier: a strong
            // reference taken here might be the last one, and its `deinit` would take this lock
            // again.
            guard files[identity]?.id == ObjectIdentifier(file) else { return }
            files[identity] = nil
        }
    }
}
