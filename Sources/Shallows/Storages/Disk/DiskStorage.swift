public import Foundation
public import VellumCore

/// Files anywhere on the disk as a storage: their bytes, by their URLs.
///
/// ```swift
/// let settings = DiskStorage.main.mapString().singleKey(settingsURL)
/// let cities = DiskStorage.main.folder("cities", in: .cachesDirectory)
/// ```
///
/// Files are written as those of a ``DiskFolderStorage``. Calls on files of one folder are done in
/// order, together with those of a ``DiskFolderStorage`` on the same path; folders do not wait for
/// one another.
///
/// Setting puts a new file in the place of the old one. It belongs to its owner alone (mode 0600),
/// whatever the mode of the old one was. A link is replaced by the file, and what it led to is
/// unchanged.
public final class DiskStorage: ForwardingStorageProtocol {
    /// The URL of a file.
    public typealias Key = URL
    /// The contents of a file.
    public typealias Value = Data

    /// The storage that makes folders where they are missing.
    public static let main = DiskStorage(creatingDirectories: true)

    /// `disk`.
    public let storageName = "disk"
    /// Whether the folder of a file is made where it is missing.
    public let creatingDirectories: Bool
    /// What a file that was set survives. The default is `crashSafe`. A folder has its own.
    public let durability: Durability

    private let files: PlainFiles

    /// Creates a storage of files.
    ///
    /// - Parameters:
    ///   - creatingDirectories: Whether the folder of a file, and those above it, are made where
    ///     they are missing.
    ///   - durability: What a file that was set survives once the call has returned.
    public init(creatingDirectories: Bool = true, durability: Durability = .crashSafe) {
        self.creatingDirectories = creatingDirectories
        self.durability = durability
        files = PlainFiles(
            makesFolders: creatingDirectories,
            sync: FileSync(durability),
            sweptFolders: .shared
        )
    }

    /// The folder of a file.
    public static func directoryURL(of fileURL: URL) -> URL { fileURL.deletingLastPathComponent() }

    /// The storage as transforms and compositions use it.
    public var underlyingStorage: Storage<URL, Data> {
        let name = storageName
        let files = files
        let folder: @Sendable (URL) -> SharedFolder = {
            .shared(for: Self.directoryURL(of: $0))
        }
        return Storage(
            name,
            StorageOperations(
                retrieve: { url, call in
                    folder(url).run(name, url, call) {
                        () throws(FileError) in try files.read(url)
                    }
                    .orMiss(name, url)
                },
                set: { value, url, call in
                    folder(url).run(name, url, call) { () throws(FileError) in
                        try files.write(value, to: url)
                    }
                },
                lockKey: { LockKey(of: self, $0) }
            )
        )
    }
}

/// Files anywhere, by their URLs, written as ``FolderFiles`` writes its own.
///
/// Every call blocks its thread for the file system, and may be made on any thread, concurrently
/// with others.
struct PlainFiles: Sendable {
    /// Whether a write makes the folder of its file where it is missing.
    var makesFolders = true
    var sync = FileSync.none
    var fileSystem = FileSystem.system
    var sweptFolders = TemporaryFiles.SweptFolders()

    /// The contents of the file; `nil` if there is none.
    ///
    /// - Complexity: O(size).
    func read(_ url: URL) throws(FileError) -> Data? {
        let (folder, name) = try parts(of: url)
        switch try FileReader(folder: folder).contents(of: name) {
        case .value(let data): return data
        case .missing: return nil
        case .folder: throw folder.error(.reading, EISDIR, name)
        }
    }

    /// Writes the file. On failure the old file stays, and nothing is left of the new one.
    ///
    /// - Complexity: O(size).
    func write(_ value: Data, to url: URL) throws(FileError) {
        let (folder, name) = try parts(of: url)
        sweptFolders.sweepOnce(folder)
        let writer = FileWriter(folder: folder, sync: sync, makesFolders: makesFolders)
        try writer.retrying { () throws(FileError) in
            let isWritten = try writer.write([value]) { temporary throws(FileError) in
                try writer.rename(temporary, to: name)
            }
            guard isWritten else { throw folder.error(.renaming, EISDIR, name) }
        }
    }

    /// The folder of a file, and its name there.
    private func parts(of url: URL) throws(FileError) -> (folder: Folder, name: String) {
        let path = url.path
        guard url.isFileURL, let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")),
            !path.utf8.contains(0)
        else {
            throw FileError(.opening, EINVAL, path, shownAs: "")
        }
        let folder = slash == path.utf8.startIndex ? "/" : String(path[..<slash])
        return (
            Folder(folder, on: fileSystem),
            String(path[path.utf8.index(after: slash)...])
        )
    }
}
