internal import Foundation

/// Whether a write waits until the disk has it.
enum FileSync: Sendable {
    /// It survives the end of the process as soon as the call has returned. Power loss may take the last moments. Where a file system
    /// brings bytes to the disk before the names that lead to them, what is there is whole; elsewhere it may leave a file that was
    /// written lately empty, cut, or with zeros in it, and nothing tells that from a value: files keep no checksum.
    case none
    /// It survives power loss as soon as the call has returned: the file and its folder are brought to the disk (`fdatasync`;
    /// `F_FULLFSYNC` on Apple platforms).
    case complete
}

/// Writes whole files: into a temporary one beside, which is then renamed, so that whoever reads sees the old value or the new one.
struct FileWriter: Sendable {
    let calls: FileSystemCalls
    let sync: FileSync

    /// Writes a temporary file and calls `place` with its name, to put it into its place. Nothing is left of it where that fails, or
    /// says `false`.
    ///
    /// - Returns: What `place` says.
    /// - Complexity: O(size).
    @discardableResult
    func write(
        _ pieces: [Data], in folder: FolderPath, place: (_ temporary: String) throws(FileFailure) -> Bool
    ) throws(FileFailure) -> Bool {
        let temporary = try writeTemporary(pieces, in: folder)
        do throws(FileFailure) {
            if try place(temporary) { return true }
        } catch {
            try discard(temporary, in: folder)
            throw error
        }
        try discard(temporary, in: folder)
        return false
    }

    /// Renames a file; what had the name before is gone.
    ///
    /// - Returns: `false` if there is a folder of that name.
    func rename(_ name: String, to target: String, in folder: FolderPath) throws(FileFailure) -> Bool {
        let isMoved = try folder.withPath(of: name.utf8) { (path) throws(FileFailure) -> Bool in
            try folder.withPath(of: target.utf8) { (target) throws(FileFailure) -> Bool in
                let answer = calls.rename(path, target)
                if answer == -EISDIR { return false }
                guard answer == 0 else { throw failure(.replacing, answer, target) }
                return true
            }
        }
        if isMoved { try syncFolder(folder) }
        return isMoved
    }

    private func writeTemporary(_ pieces: [Data], in folder: FolderPath) throws(FileFailure) -> String {
        while true {
            let name = TemporaryName.next()
            let isWritten = try folder.withPath(of: name.utf8) { (path) throws(FileFailure) -> Bool in
                let file = calls.open(path, .creating)
                if file == -EEXIST { return false }
                guard file >= 0 else { throw failure(.creating, file, path) }
                do throws(FileFailure) {
                    try fill(file, with: pieces, path)
                } catch {
                    _ = calls.unlink(path)  // If that fails, too, a sweep removes it later.
                    throw error
                }
                return true
            }
            if isWritten { return name }
        }
    }

    private func discard(_ temporary: String, in folder: FolderPath) throws(FileFailure) {
        // If that fails, a sweep removes it later.
        _ = try folder.withPath(of: temporary.utf8) { (path) throws(FileFailure) in calls.unlink(path) }
    }

    /// Does a write, and does it again as long as the folder is found missing, or the temporary file: others may clear the folder.
    ///
    /// - Parameter ifMissing: Whether the folder is made where it is missing.
    func making(_ folder: FolderPath, ifMissing: Bool, _ write: () throws(FileFailure) -> Void) throws(FileFailure) {
        var triesLeft = 100
        var wasMissing = false
        while true {
            do throws(FileFailure) {
                if wasMissing { try makeFolder(folder.text) }
                return try write()
            } catch {
                triesLeft -= 1
                guard error.code == ENOENT, ifMissing, triesLeft > 0 else { throw error }
                wasMissing = true
            }
        }
    }

    /// Makes a folder for its owner alone, and those above it, where they are missing.
    func makeFolder(_ path: String) throws(FileFailure) {
        var answer = path.withCString { calls.makeFolder($0) }
        if answer == -ENOENT, above(path) != path {
            try makeFolder(above(path))
            answer = path.withCString { calls.makeFolder($0) }
        }
        // If what is there is no folder, whoever opens a file in it is told.
        guard answer == 0 || answer == -EEXIST else { throw FileFailure(step: .makingFolder, code: -answer, path: path) }
        if answer == 0 { try syncFolder(FolderPath(above(path))) }
    }

    /// Brings the names in a folder to the disk, where that was asked for.
    ///
    /// - Parameter mayBeMissing: Whether all is well if there is no folder.
    func syncFolder(_ folder: FolderPath, mayBeMissing: Bool = false) throws(FileFailure) {
        guard sync == .complete else { return }
        try folder.withPath(of: EmptyCollection()) { (path) throws(FileFailure) in
            let file = calls.open(path, .syncingFolder)
            if mayBeMissing, file == -ENOENT { return }
            guard file >= 0 else { throw failure(.syncing, file, path) }
            let answer = calls.sync(file, .syncingFolder)
            _ = calls.close(file)
            guard answer == 0 else { throw failure(.syncing, answer, path) }
        }
    }

    private func fill(_ file: Int32, with pieces: [Data], _ path: UnsafePointer<CChar>) throws(FileFailure) {
        var answer: Int32 = 0
        for piece in pieces where answer == 0 { answer = write(piece, to: file) }
        let isSynced = answer == 0 && sync == .complete
        if isSynced { answer = calls.sync(file, .creating) }
        let closing = calls.close(file)
        // File systems of other machines may say only now that there is no space.
        guard answer == 0, closing == 0 else { throw failure(.writing, answer == 0 ? closing : answer, path) }
    }

    private func write(_ piece: Data, to file: Int32) -> Int32 {
        piece.withUnsafeBytes { bytes in
            var rest = bytes
            while let start = rest.baseAddress, !rest.isEmpty {
                let count = calls.write(file, start, rest.count)
                guard count > 0 else { return count == 0 ? -EIO : Int32(count) }
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
            }
            return 0
        }
    }

    private func failure(_ step: FileFailure.Step, _ answer: Int32, _ path: UnsafePointer<CChar>) -> FileFailure {
        FileFailure(step: step, code: -answer, path: String(cString: path))
    }

    /// The folder above a folder.
    func above(_ path: String) -> String {
        let parts = path.utf8.dropLast(path.utf8.last == UInt8(ascii: "/") ? 1 : 0)
        guard let slash = parts.lastIndex(of: UInt8(ascii: "/")) else { return path }
        return slash == parts.startIndex ? "/" : String(Substring(parts[..<slash]))
    }
}
