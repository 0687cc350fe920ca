internal import Foundation
internal import VellumCore

/// The files of a folder, one for each key.
///
/// ```swift
/// let files = FolderFiles(.init(folder: url, encoder: .base64))
/// try files.write(data, for: "settings")
/// let settings = try files.read("settings")
/// ```
///
/// Every call blocks its thread for the file system, and may be made on any thread, concurrently
/// with others: files are replaced whole. If two writes of a key overlap, the one that ends last
/// stays. Other processes may use the folder, and may remove it: the next write makes it again.
final class FolderFiles: Sendable {
    struct Configuration: Sendable {
        /// A folder on this machine, which need not exist.
        var folder: URL
        var encoder = Filename.Encoder.base64
        var sync = FileSync.none
        /// Whether a write makes the folder, and those above it, where they are missing.
        var makesFolders = true
        /// By default that of the folder's volume.
        var caseSensitivity: CaseSensitivity?
        var fileSystem = FileSystem.system
        /// The order of calls that concurrent users of the folder share.
        var shared = SharedFolder()
        var sweptFolders = TemporaryFiles.SweptFolders()
    }

    let names: FileNames
    let folder: Folder
    let reader: FileReader
    let writer: FileWriter
    let shared: SharedFolder
    private let sweptFolders: TemporaryFiles.SweptFolders

    init(_ configuration: Configuration) {
        let folder = Folder(configuration.folder, on: configuration.fileSystem)
        self.folder = folder
        names = FileNames(
            encoder: configuration.encoder,
            caseSensitivity: configuration.caseSensitivity ?? .ofVolume(at: folder.path)
        )
        reader = FileReader(folder: folder)
        writer = FileWriter(
            folder: folder,
            sync: configuration.sync,
            makesFolders: configuration.makesFolders
        )
        shared = configuration.shared
        sweptFolders = configuration.sweptFolders
    }

    /// The name of the file that a key's value is written to. Reads nothing.
    ///
    /// The file holds the value and nothing else, unless the key is too long for a name
    /// (``LongKeyFile``).
    func fileName(for key: Filename) -> String { names.file(of: key).name }

    /// The path that the original gave to the file of a key; that of ``fileName(for:)`` if it may
    /// lead out of the folder or to another key's file.
    func originalPath(for key: Filename) -> String {
        names.originalPath(of: names.encoder.encodedString(representing: key)) ?? fileName(for: key)
    }

    // MARK: Reading

    /// The value of a key; `nil` if there is none.
    ///
    /// - Complexity: O(size).
    func read(_ key: Filename) throws(FileError) -> Data? {
        let file = names.file(of: key)
        if let value = try read(file) { return value }
        let paths = names.originalPaths(of: key, file)
        for path in paths where try hasOriginal(at: path) {
            if case .value(let data) = try reader.contents(of: path) { return data }
        }
        // A write may have replaced the original's file meanwhile.
        return paths.isEmpty ? nil : try read(file)
    }

    private func read(_ file: FileName) throws(FileError) -> Data? {
        switch try reader.contents(of: file.name) {
        case .value(let data):
            guard try isSpelledExactly(file.name) else { return nil }
            return file.isShortened ? LongKeyFile.value(in: data, of: file.text) : data
        case .missing: return nil
        case .folder: return file.isPlain ? try read(names.fileBesideFolder(file)) : nil
        }
    }

    // MARK: Writing

    /// Writes the value of a key. On failure the old value stays, and nothing is left of the new
    /// one.
    ///
    /// Two failures come after the value was written: ``VellumCore/FileError/Step/syncing`` and
    /// ``VellumCore/FileError/Step/removingOriginal``.
    ///
    /// - Complexity: O(size).
    func write(_ value: Data, for key: Filename) throws(FileError) {
        sweptFolders.sweepOnce(folder)
        let file = names.file(of: key)
        try writer.retrying { () throws(FileError) in
            if try put(value, in: file) { return }
            // The original made a folder of that name, for keys with `/` in them.
            guard file.isPlain, try put(value, in: names.fileBesideFolder(file)) else {
                throw folder.error(.renaming, EISDIR, file.name)
            }
        }
        _ = try removeOriginals(of: key, file, .removingOriginal)
    }

    /// - Returns: `false` if there is a folder of that name.
    private func put(_ value: Data, in file: FileName) throws(FileError) -> Bool {
        let pieces = file.isShortened ? [value, LongKeyFile.end(for: file.text)] : [value]
        return try writer.write(pieces) { temporary throws(FileError) in
            if names.needsExactName(file.name) { try makeRoom(for: file.name) }
            return try writer.rename(temporary, to: file.name)
        }
    }

    /// Moves the file of another key away that the original wrote under the same letters in another
    /// case.
    private func makeRoom(for name: String) throws(FileError) {
        guard let found = try spelling(of: name), !found.hasSameBytes(as: name),
            case .value(let data) = try reader.contents(of: found)
        else { return }
        let file = FileName(of: found, names.caseSensitivity)
        if try read(file) == nil { _ = try put(data, in: file) }
        _ = try unlink(found, .renaming)
    }

    // MARK: Removing

    /// Removes the value of a key. Returns whether there was one.
    ///
    /// Files of the original are removed first, so that no older value comes back if the process
    /// ends in between.
    func remove(_ key: Filename) throws(FileError) -> Bool {
        let file = names.file(of: key)
        let hadOriginal = try removeOriginals(of: key, file, .removing)
        return try remove(file) || hadOriginal
    }

    private func remove(_ file: FileName) throws(FileError) -> Bool {
        if try isSpelledExactly(file.name), try unlink(file.name, .removing) { return true }
        guard file.isPlain, try folder.kind(of: file.name) == .folder else { return false }
        return try remove(names.fileBesideFolder(file))
    }

    /// Removes the files that the original wrote for a key. Returns whether there was one. Its
    /// folders stay: a value that is written beside one is looked for only while the folder is
    /// there.
    private func removeOriginals(
        of key: Filename,
        _ file: FileName,
        _ step: FileError.Step
    ) throws(FileError) -> Bool {
        var existed = false
        for path in names.originalPaths(of: key, file) where try hasOriginal(at: path) {
            if try unlink(path, step) { existed = true }
        }
        return existed
    }

    /// Returns whether there was a file.
    private func unlink(_ path: String, _ step: FileError.Step) throws(FileError) -> Bool {
        let answer = try folder.unlink(path)
        if answer == -ENOENT || answer == -EISDIR { return false }
        guard answer == 0 else { throw folder.error(step, answer, path) }
        let above = path.utf8.lastIndex(of: UInt8(ascii: "/")).map {
            folder.folder(String(path[..<$0]))
        }
        try writer.sync(above ?? folder, mayBeMissing: true)
        return true
    }

    // MARK: Checking names

    /// Whether the original wrote a file at this path, through folders alone: a link may lead out
    /// of the folder.
    private func hasOriginal(at path: String) throws(FileError) -> Bool {
        for slash in path.utf8.indices where path.utf8[slash] == UInt8(ascii: "/") {
            guard try folder.kind(of: String(path[..<slash])) == .folder else { return false }
        }
        return try folder.kind(of: path) == .file ? isSpelledExactly(path) : false
    }

    /// Whether the folder has something under `name` in this case, where the case is not part of
    /// the name.
    private func isSpelledExactly(_ name: String) throws(FileError) -> Bool {
        guard names.needsExactName(name) else { return true }
        return try spelling(of: name)?.hasSameBytes(as: EntryKey(name).normalized) == true
    }

    /// How the folder spells what it has under `name`, in normal form; `nil` if it has nothing
    /// there.
    private func spelling(of name: String) throws(FileError) -> String? {
        switch try folder.spelling(of: name) {
        case .value(let bytes):
            // The end of the path that is inside the folder has as many parts as the name.
            let depth = name.utf8.count { $0 == UInt8(ascii: "/") } + 1
            let parts = bytes.split(separator: UInt8(ascii: "/")).suffix(depth)
            return EntryKey(
                parts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/")
            ).normalized
        case .failure(-ENOENT), .failure(-ENOTDIR), .failure(-ENAMETOOLONG): return nil
        case .failure(let code): throw folder.error(.opening, code, name)
        }
    }
}

extension FileError.Step {
    static let removingOriginal = FileError.Step(
        """
        The value was written, but the file that an earlier version wrote for its key could not be \
        removed
        """,
        isWriting: true
    )
}
