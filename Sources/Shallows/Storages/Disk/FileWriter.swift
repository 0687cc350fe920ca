internal import Foundation
internal import VellumCore

/// Whether a write waits for the disk (decision 47).
enum FileSync: Sendable {
    /// The file survives the end of the process. Power loss may take the last moments; where the
    /// file system brings names to the disk before bytes, it may leave a file that was written
    /// lately empty, cut, or with zeros in it. Files have no checksum that shows it.
    case none
    /// The file survives power loss: it and its folder are synced (`fdatasync`; `F_FULLFSYNC` on
    /// Apple platforms).
    case complete

    init(_ durability: Durability) {
        self = durability == .powerSafe ? .complete : .none
    }
}

/// Writes whole files of a folder: each into a temporary file, which is then renamed, so that a
/// reader sees the old value or the new one.
struct FileWriter: Sendable {
    let folder: Folder
    let sync: FileSync
    /// Whether the folder, and those above it, are made where they are missing.
    let makesFolders: Bool

    private var call: FileSystem.Calls { folder.fileSystem.call }

    /// Writes a temporary file and calls `place` with its name, to rename it. If that throws or
    /// returns `false`, the file is removed.
    ///
    /// - Returns: What `place` returns.
    /// - Complexity: O(size).
    @discardableResult
    func write(
        _ pieces: [Data],
        place: (_ temporary: String) throws(FileError) -> Bool
    ) throws(FileError) -> Bool {
        let temporary = try writeTemporary(pieces)
        var isPlaced = false
        // Where removing it fails, too, a sweep removes it later.
        defer { if !isPlaced { discard(temporary) } }
        isPlaced = try place(temporary)
        return isPlaced
    }

    /// Renames a file, replacing the one that had the name.
    ///
    /// - Returns: `false` if there is a folder of that name.
    func rename(_ name: String, to target: String) throws(FileError) -> Bool {
        let answer = try folder.rename(name, to: target)
        if answer == -EISDIR { return false }
        guard answer == 0 else { throw folder.error(.renaming, answer, target) }
        try sync(folder)
        return true
    }

    /// Calls `write`, and calls it again when the folder or the temporary file is missing: others
    /// may remove either.
    func retrying(_ write: () throws(FileError) -> Void) throws(FileError) {
        var triesLeft = 100
        var isMissing = false
        while true {
            do throws(FileError) {
                if isMissing, makesFolders { try makeFolders() }
                return try write()
            } catch {
                triesLeft -= 1
                guard error.code == ENOENT, makesFolders || error.step == .renaming, triesLeft > 0
                else { throw error }
                isMissing = true
            }
        }
    }

    private func makeFolders() throws(FileError) {
        try folder.fileSystem.makeFolders(folder.path) { path throws(FileError) in
            try sync(Folder(path, on: folder.fileSystem).parent)
        }
    }

    /// Syncs the names in a folder, where writes are synced.
    ///
    /// - Parameter mayBeMissing: Whether a folder that does not exist is no error.
    func sync(_ folder: Folder, mayBeMissing: Bool = false) throws(FileError) {
        guard sync == .complete else { return }
        let file = try folder.open("", for: .syncingFolder)
        if mayBeMissing, file == -ENOENT { return }
        guard file >= 0 else { throw folder.error(.syncing, file) }
        let answer = call.sync(file, .syncingFolder)
        _ = call.close(file)
        guard answer == 0 else { throw folder.error(.syncing, answer) }
    }

    private func writeTemporary(_ pieces: [Data]) throws(FileError) -> String {
        while true {
            let name = TemporaryFiles.nextName()
            let file = try folder.open(name, for: .creating)
            if file == -EEXIST { continue }
            guard file >= 0 else { throw folder.error(.creating, file, name) }
            let answer = fill(file, with: pieces)
            guard answer == 0 else {
                discard(name)
                throw folder.error(.writing, answer, name)
            }
            return name
        }
    }

    private func discard(_ temporary: String) {
        do throws(FileError) {
            _ = try folder.unlink(temporary)
        } catch {
            // The folder's path was valid when the file was made.
        }
    }

    /// Writes the pieces, syncs where that is asked for, and closes the file. Returns zero, or the
    /// negated `errno`.
    private func fill(_ file: Int32, with pieces: [Data]) -> Int32 {
        var answer: Int32 = 0
        for piece in pieces where answer == 0 { answer = write(piece, to: file) }
        if answer == 0, sync == .complete { answer = call.sync(file, .creating) }
        // A network file system may report only now that there is no space.
        let closing = call.close(file)
        return answer == 0 ? closing : answer
    }

    private func write(_ piece: Data, to file: Int32) -> Int32 {
        piece.withUnsafeBytes { bytes in
            var rest = bytes
            while let start = rest.baseAddress, !rest.isEmpty {
                let count = call.write(file, start, rest.count)
                guard count > 0 else { return count == 0 ? -EIO : Int32(count) }
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
            }
            return 0
        }
    }
}

/// Files that are being written, before they have their names; and those that a killed process
/// left.
enum TemporaryFiles {
    /// The age in seconds at which a temporary file counts as left over. Whoever still writes it
    /// writes it again when it is gone.
    static let maxAge = 60 * 60

    private static let process = UInt64.random(in: 0 ... .max)
    private static let count = Locked<UInt64>(0)

    /// A name that no other temporary file of this process has, and that is unlikely to be one of
    /// another's.
    static func nextName() -> String {
        let number = count.withLock { count in
            count += 1
            return count
        }
        return "\(FileName.temporaryPrefix)\(String(process, radix: 16))-\(number)"
    }

    /// Removes the temporary files of a folder that are older than ``maxAge``. Returns how many.
    ///
    /// - Complexity: O(number of files in the folder), and two calls of the system for each
    ///   temporary one.
    @discardableResult
    static func sweep(_ folder: Folder, at now: Date = Date()) throws(FileError) -> Int {
        var count = 0
        for entry in try folder.entries()
        where entry.kind == .file && entry.name.starts(with: FileName.temporaryPrefix.utf8) {
            // A file that is gone was renamed by its writer.
            guard
                case .value(let status) = try folder.status(
                    of: String(decoding: entry.name, as: UTF8.self)
                ),
                status.modified < WallInstant(now).advanced(byMilliseconds: Int64(-maxAge) * 1000)
            else { continue }
            let answer = try folder.unlink(entry.name)
            guard answer == 0 || answer == -ENOENT else {
                throw folder.error(.removing, answer, String(decoding: entry.name, as: UTF8.self))
            }
            if answer == 0 { count += 1 }
        }
        return count
    }

    /// The folders that were swept. Each is swept before its first write, because that looks at all
    /// of its files.
    final class SweptFolders: Sendable {
        /// Those of this process.
        static let shared = SweptFolders()

        private let paths = Locked<Set<String>>([])

        func sweepOnce(_ folder: Folder) {
            let path = folder.path
            let isFirst = paths.withLock { paths in
                if paths.count == 1000 { paths.removeAll() }
                return paths.insert(path).inserted
            }
            guard isFirst else { return }
            do throws(FileError) {
                try sweep(folder)
            } catch {
                // What is left is swept by the next process, and the write that follows reports
                // what is wrong with the folder.
            }
        }
    }
}
