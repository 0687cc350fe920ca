package import Foundation
package import VellumCore
package import VellumEngine

/// A folder in which version 1 of Vellum kept the objects of a type: a file `KEY.vlm` for each,
/// with what the type made of the object (decision 51).
///
/// Its objects are imported once into the archive of the type, when that is first opened. The files
/// stay where they are.
package struct OriginalObjects: Sendable {
    /// Its name, which stands for it in the archives' file.
    private let name: String
    private let path: String
    /// The paths of the folder and of those between it and its parent.
    private let folders: [String]

    /// - Parameters:
    ///   - name: The name of the folder.
    ///   - parent: The folder that it is in.
    /// - Returns: `nil` if version 1 could not write a folder of that name in `parent`, or there is
    ///   none.
    package init?(named name: String, in parent: URL) {
        // By scalars: a mark behind a slash is one character with it.
        let parts = name.unicodeScalars.split(separator: "/").map(String.init)
        guard parent.isFileURL,
            !parts.isEmpty,
            !parts.contains("."),
            !parts.contains(".."),
            !name.utf8.contains(0)
        else { return nil }
        self.name = parts.joined(separator: "/")
        path = parent.appendingPathComponent(self.name, isDirectory: true).path
        folders = parts.indices.map {
            parent.appendingPathComponent(parts[...$0].joined(separator: "/"), isDirectory: true)
                .path
        }
        guard FileIdentity(path: path) != nil else { return nil }
    }

    /// Why nothing can be imported: the folder is no folder, or is or leads through a symbolic
    /// link, and the files of another folder are not the type's. `nil` if that is not so.
    package func obstacle(for archive: String) -> VellumError? {
        guard
            let other = folders.first(
                where: { FileSystem.isLink($0) || !FileSystem.isFolder($0) }
            )
        else { return nil }
        return VellumError(
            .inputOutput,
            """
            The objects of version 1 are not imported: their folder is a symbolic link, or no \
            folder. Put the folder in its place, then open the archive in a new process.
            """
        )
        .located(archive: archive, path: other)
    }

    /// Imports the objects that were not imported before. Blocks for the disk, and while another
    /// process imports.
    ///
    /// An object that is in the archive already stays. Each transaction also records how far the
    /// import came: an object that is deleted afterwards never returns, and a process that is
    /// killed, or finds the disk full, leaves the rest to the next opening.
    ///
    /// - Returns: What was imported; `nil` if nothing was left to import.
    /// - Complexity: O(n log n) for n files, with a transaction for up to 2048 of them, or 8 MB.
    /// - Throws: ``VellumError`` if the folder cannot be read, or the archive cannot be written.
    package func importAll<Value>(
        into store: Store<Value>,
        of file: DatabaseFile
    ) throws(VellumError) -> ImportCounts? {
        do {
            // One process at a time.
            let counts = try FileLock.hold(folder: path) { try importRest(into: store, of: file) }
            if let counts { store.report(.imported(counts)) }
            return counts
        } catch let error as VellumError {
            throw error
        } catch let error as SQLiteError {
            throw VellumError(error).located(archive: store.name, path: path)
        } catch {
            throw VellumError(
                .inputOutput,
                """
                The objects of version 1 in \(path) could not all be imported. They are still \
                there; opening the archive again goes on.
                """,
                cause: error
            ).located(archive: store.name, path: nil)
        }
    }

    private func importRest<Value>(
        into store: Store<Value>,
        of file: DatabaseFile
    ) throws -> ImportCounts? {
        let progress = try file.importProgress(of: OriginalObjectsProgress.self)
        let key = EntryKey(store.name + "\0" + name)
        var done = try progress.value(forKey: key) ?? OriginalObjectsProgress()
        guard !done.isComplete else { return nil }
        var rest = try files().filter {
            !done.covers($0) || done.unread.contains($0.name)
        }[...]
        var counts = ImportCounts()
        repeat {
            var transaction = StoreTransaction()
            var count = 0
            var bytes = 0
            while count < 2048, bytes < 8 << 20, let file = rest.popFirst() {
                count += 1
                let size = try add(file, to: &transaction, store, &counts)
                bytes += size ?? 0
                if size == nil {
                    done.unread.insert(file.name)
                } else {
                    done.unread.remove(file.name)
                }
                if !done.covers(file) {
                    done.date = file.lastUsed
                    done.name = file.name
                }
            }
            done.isComplete = rest.isEmpty && done.unread.isEmpty
            try transaction.record(done, forKey: key, in: progress)
            counts.imported += try transaction.commit().dropLast().count { $0 }
            CrashPoint.reached(.originalsImported)
        } while !rest.isEmpty
        return counts
    }

    /// - Returns: The size of the file; `nil` if it cannot be read now, and is tried again at the
    ///   next opening.
    private func add<Value>(
        _ file: File,
        to transaction: inout StoreTransaction,
        _ store: Store<Value>,
        _ counts: inout ImportCounts
    ) throws -> Int? {
        let data: Data
        do {
            data = try Data(
                contentsOf: URL(filePath: path + "/" + file.name, directoryHint: .notDirectory)
            )
        } catch {
            counts.skip("A file of version 1 cannot be read", error)
            return nil
        }
        do {
            // An object that its migration no longer needs has no value.
            guard let value = try Self.decode(data, EntryKey(file.key), store.codec) else {
                return data.count
            }
            let key = store.codec.key(of: value) ?? EntryKey(file.key)
            try transaction.add(
                imported: value,
                forKey: key,
                writtenAt: WallInstant(rawValue: file.lastUsed),
                in: store
            )
        } catch {
            counts.skip("A file of version 1 cannot be decoded as \(Value.self)", error)
        }
        return data.count
    }

    private static func decode<Value>(
        _ data: Data,
        _ key: EntryKey,
        _ codec: any Codec<Value>
    ) throws -> Value? {
        guard codec.version > 0 else { return try codec.decode(data) }
        // Version 1 of the package knew no versions of types.
        switch try codec.migrate(data, from: 0, of: key) {
        case .value(let value): return value
        case .removed: return nil
        }
    }

    // MARK: Files

    struct File {
        /// The key, as version 1 named the file.
        var key: String
        var name: String
        /// When the object was last recorded or accessed, in milliseconds since 1970.
        var lastUsed: Int64
    }

    private static let suffix = Array(".vlm".utf8)

    /// The files of the folder, in the order of their last uses.
    private func files() throws(FileError) -> [File] {
        let entries: [FileSystem.Entry]
        switch path.withCString({ SystemCalls.list($0) }) {
        case .value(let found): entries = found
        case .failure(let code): throw FileError(.opening, code, path)
        }
        return entries.compactMap(file).sorted {
            ($0.lastUsed, $0.name) < ($1.lastUsed, $1.name)
        }
    }

    private func file(_ entry: FileSystem.Entry) -> File? {
        guard entry.kind == .file, entry.name.count > Self.suffix.count,
            entry.name.suffix(Self.suffix.count) == Self.suffix[...],
            let name = String(validating: entry.name, as: UTF8.self),
            case .value(let status) = (path + "/" + name).withCString(
                { SystemCalls.statusAt($0) }
            )
        else { return nil }
        return File(
            key: String(name.dropLast(Self.suffix.count)),
            name: name,
            lastUsed: max(status.modified.rawValue, 0)
        )
    }
}

/// How far an archive has imported a folder.
private struct OriginalObjectsProgress: Codable, Sendable {
    /// The last use and the name of the last file that was imported, in this order.
    var date: Int64 = -1
    var name = ""
    /// The names of files before it that could not be read.
    var unread: Set<String> = []
    var isComplete = false

    func covers(_ file: OriginalObjects.File) -> Bool {
        (file.lastUsed, file.name) <= (date, name)
    }
}
