internal import Foundation
internal import VellumCore

/// The files that this process has open, so that two handles on one file share one store.
final class FileRegistry: Sendable {
    static let shared = FileRegistry()

    // A class, because an optional struct with a weak reference is misread by the compiler of Swift 6.3.
    private final class Weak {
        weak var file: DatabaseFile?
        let id: ObjectIdentifier
        let forkGuard: ForkGuard

        init(_ file: DatabaseFile) {
            self.file = file
            id = ObjectIdentifier(file)
            forkGuard = file.forkGuard
        }
    }

    private let files = Locked<[FileIdentity: Weak]>([:])
    /// Held while a file is opened or closed.
    let opening = Locked(())

    /// The open file, or a new one. One file is opened at a time.
    ///
    /// - Parameter holding: Called with the file while none can be closed.
    func file(
        _ identity: () throws -> FileIdentity, open: (FileIdentity) throws -> DatabaseFile, holding: (DatabaseFile) throws -> Void
    ) throws -> DatabaseFile {
        try opening.withLock { _ in
            let identity = try identity()
            // SQLite counts the locks of a file for the whole process, and would count those of the other, also where the file was released
            // here.
            guard files.withLock({ $0[identity]?.forkGuard.isThisProcess ?? true }) else { throw VellumError.forked }
            if let file = files.withLock({ $0[identity]?.file }) {
                try holding(file)
                return file
            }
            let file = try open(identity)
            try holding(file)
            // Opening may have put a new file in the place of a damaged one.
            files.withLock { $0[file.identity] = Weak(file) }
            return file
        }
    }

    func remove(_ file: DatabaseFile, _ identity: FileIdentity) {
        files.withLock { files in
            // A new store may have taken the place already. Asked by identity: a reference to that one, taken here, might be
            // the last, and its `deinit` comes back to this lock.
            guard files[identity]?.id == ObjectIdentifier(file) else { return }
            files[identity] = nil
        }
    }
}
