public import Foundation
public import VellumCore

// Decision 24.

/// A folder as a storage: one file for each key, whose bytes are the value.
///
/// ```swift
/// let images = DiskStorage.main.folder("images", in: .cachesDirectory)
/// try await images.set(png, forKey: "kitten")
/// ```
///
/// *Keys.* Any string is a key: empty, with `/`, `..` or NUL in it, 64 KiB long.
/// ``filenameEncoder`` makes the name of its file. A name that no file can have is escaped. Files
/// that the original Shallows wrote with the same encoder are read where they are, and removed when
/// their keys are set or removed.
///
/// *Ownership.* Everything in the folder belongs to the storage, also in the folders inside it that
/// the original made for keys with `/` in them: files whose names are keys are listed, and all are
/// cleared. Do not place one storage's folder inside another's. Links are removed, and not
/// followed.
///
/// *Threads.* Calls with a completion and `async` calls run on a thread of the folder's, in the
/// order in which they were made; calls that wait run on their own thread. Folders do not wait for
/// one another. Storages on one folder that name it by the same path share that order, so one may
/// be made for each call. See ``DiskStorage`` for single files.
///
/// *Durability.* A file is written beside the one it replaces and renamed: every reader, also in
/// another process, sees the old value or the new one. Once the call has returned the value
/// survives the end of the process, and power loss where ``durability`` says so. Otherwise power
/// loss may leave a recently written file empty, truncated or filled with zeros, on file systems
/// that write names before bytes. A temporary file that a killed process left is removed by the
/// first set of a process, one hour later or more.
///
/// *Complexity.* O(size) for every call, whatever the number of files. Listing, clearing, and the
/// first set of a process in a folder are O(files).
///
/// Errors are ``ShallowsError``s, whose cause is a `POSIXError`. Their descriptions show the
/// folder, and never the name of a file, which is made of a key.
public final class DiskFolderStorage: ForwardingStorageProtocol, RemovableStorageProtocol {
    /// A key, of which the name of its file is made.
    public typealias Key = Filename
    /// The contents of a file.
    public typealias Value = Data

    /// `disk-` and the name of the folder.
    public let storageName: String
    /// The folder. It is made when a value is set. If this is not a file URL, or its path is empty,
    /// every call fails.
    public let folderURL: URL
    /// Makes the names of files from keys.
    public let filenameEncoder: Filename.Encoder
    /// What a value that was set survives. The default is `crashSafe`.
    public let durability: Durability
    /// Whether the folder is cleared when the last reference to this storage, and to everything
    /// made of it, is gone.
    public var clearsOnDeinit: Bool {
        get { clears.withLock { $0 } }
        set { clears.withLock { $0 = newValue } }
    }

    private let clears = Locked(false)
    private let files: FolderFiles
    /// Where the files are if not in the folder.
    private let otherStorage: Storage<URL, Data>?

    /// Creates a storage on a folder. Reads and writes nothing.
    ///
    /// - Parameters:
    ///   - folderURL: Where the files lie.
    ///   - filenameEncoder: Makes names of keys. A folder is opened with the encoder that it was
    ///     written with.
    ///   - durability: What a value that was set survives once the call has returned.
    ///   - creatingDirectories: Whether the folder, and those above it, are made where they are
    ///     missing.
    public convenience init(
        folderURL: URL,
        filenameEncoder: Filename.Encoder = .base64,
        durability: Durability = .crashSafe,
        creatingDirectories: Bool = true
    ) {
        self.init(
            folderURL,
            nil,
            filenameEncoder,
            durability,
            creatingDirectories: creatingDirectories
        )
    }

    /// Creates a storage on a storage of files by their URLs, as on a folder. Reads and writes
    /// nothing.
    ///
    /// ```swift
    /// let images = DiskFolderStorage(
    ///     folderURL: url, diskStorage: encryptedFiles)
    /// ```
    ///
    /// Durability and the order of calls are those of `diskStorage`. Values cannot be removed one
    /// by one; ``keys()`` and ``clear()`` act on the folder itself.
    ///
    /// - Parameters:
    ///   - folderURL: The beginning of the URLs.
    ///   - diskStorage: The files. A value is under ``fileURL(forFilename:)``.
    ///   - filenameEncoder: Makes names of keys.
    public convenience init(
        folderURL: URL,
        diskStorage: Storage<URL, Data>,
        filenameEncoder: Filename.Encoder = .base64
    ) {
        self.init(folderURL, diskStorage, filenameEncoder, .crashSafe, creatingDirectories: true)
    }

    private init(
        _ folderURL: URL,
        _ otherStorage: Storage<URL, Data>?,
        _ filenameEncoder: Filename.Encoder,
        _ durability: Durability,
        creatingDirectories: Bool
    ) {
        self.otherStorage = otherStorage
        self.folderURL = folderURL
        self.filenameEncoder = filenameEncoder
        self.durability = durability
        storageName = "disk-\(folderURL.lastPathComponent)"
        files = FolderFiles(
            .init(
                folder: folderURL,
                encoder: filenameEncoder,
                sync: FileSync(durability),
                makesFolders: creatingDirectories,
                shared: .shared(for: folderURL),
                sweptFolders: .shared
            )
        )
    }

    deinit {
        if clearsOnDeinit { clear() }
    }

    /// The file that the value of the key is written to, named as ``filenameEncoder`` says wherever
    /// a file can have that name.
    ///
    /// Until the key is set again, its value may lie in a file that the original wrote under
    /// another name. Where a folder of the original has the name, the value is written beside it.
    /// If the name is too long for a file, the key follows the value in the file. So read values by
    /// ``retrieve(forKey:completion:)``, and not from this URL.
    public func fileURL(forFilename filename: Filename) -> URL {
        let name =
            otherStorage == nil ? files.fileName(for: filename) : files.originalPath(for: filename)
        return folderURL.appendingPathComponent(name, isDirectory: false)
    }

    /// The keys that have a value, in no particular order. Not a consistent snapshot: keys that are
    /// set meanwhile may be among them. Files and folders inside that cannot be read are left out.
    ///
    /// - Throws: ``ShallowsError`` if the folder cannot be read, or a `.custom` encoder cannot
    ///   decode names.
    public func keys() async throws(ShallowsError) -> [Filename] {
        try await files.shared.run(
            storageName,
            nil,
            .completing
        ) { [files] () throws(FileError) in
            try files.keys()
        }.outcome().get()
    }

    /// Removes everything in the folder, and the folder, after the calls that were made before.
    /// Blocks for the disk.
    ///
    /// Files that others write meanwhile may be removed, or stay with the folder. A failure is
    /// reported to the log; ``RemovableStorageProtocol/removeAll()`` throws it.
    public func clear() {
        // Must not retain the storage: it is called by `deinit`.
        let outcome = files.shared.run(
            storageName,
            nil,
            .waiting
        ) { [files] () throws(FileError) in
            try files.clear()
        }.wait()
        if case .failure(let error) = outcome {
            Call.waiting.report(StorageReport(.removalFailed, layer: storageName, error))
        }
    }

    /// The storage as transforms and compositions use it. It holds this one, whose `deinit` may
    /// clear the folder.
    public var underlyingStorage: RemovableStorage<Filename, Data> {
        if let otherStorage {
            return otherStorage.removable(storageName).mapKeys { self.fileURL(forFilename: $0) }
        }
        let shared = files.shared
        let files = files
        let name = storageName
        return RemovableStorage(
            name,
            StorageOperations(
                retrieve: { key, call in
                    shared.run(name, key, call) {
                        () throws(FileError) in try self.files.read(key)
                    }
                    .orMiss(name, key)
                },
                set: { value, key, call in
                    shared.run(name, key, call) { () throws(FileError) in
                        try files.write(value, for: key)
                    }
                },
                remove: { key, call in
                    shared.run(name, key, call) { () throws(FileError) in
                        _ =
                            try files.remove(key)
                    }
                },
                removeAll: { call in
                    shared.run(name, nil, call) { () throws(FileError) in try files.clear() }
                },
                lockKey: { LockKey(of: self, $0) }
            )
        )
    }
}

extension DiskStorage {
    /// A storage on the folder of that name in one of the user's directories.
    ///
    /// ```swift
    /// let cities = DiskStorage.main.folder("cities", in: .cachesDirectory)
    ///     .mapJSONObject(City.self)
    /// ```
    public func folder(
        _ folderName: String,
        in directory: FileManager.SearchPathDirectory,
        domainMask: FileManager.SearchPathDomainMask = .userDomainMask,
        filenameEncoder: Filename.Encoder = .base64
    ) -> DiskFolderStorage {
        folder(
            folderName,
            in: directory,
            domainMask: domainMask,
            filenameEncoder: filenameEncoder,
            durability: .crashSafe
        )
    }

    /// A storage on the folder of that name in one of the user's directories, with another
    /// durability.
    public func folder(
        _ folderName: String,
        in directory: FileManager.SearchPathDirectory,
        domainMask: FileManager.SearchPathDomainMask = .userDomainMask,
        filenameEncoder: Filename.Encoder = .base64,
        durability: Durability
    ) -> DiskFolderStorage {
        DiskFolderStorage(
            folderURL: DiskFolderStorage.url(
                forFolder: folderName,
                in: directory,
                domainMask: domainMask
            ),
            filenameEncoder: filenameEncoder,
            durability: durability,
            creatingDirectories: creatingDirectories
        )
    }

    /// A storage on the folder of that name in one of the user's directories, made by ``main``.
    public static func folder(
        _ folderName: String,
        in directory: FileManager.SearchPathDirectory,
        domainMask: FileManager.SearchPathDomainMask = .userDomainMask,
        filenameEncoder: Filename.Encoder = .base64
    ) -> DiskFolderStorage {
        main.folder(
            folderName,
            in: directory,
            domainMask: domainMask,
            filenameEncoder: filenameEncoder
        )
    }

    /// A storage on the folder of that name in one of the user's directories, made by ``main``,
    /// with another durability.
    public static func folder(
        _ folderName: String,
        in directory: FileManager.SearchPathDirectory,
        domainMask: FileManager.SearchPathDomainMask = .userDomainMask,
        filenameEncoder: Filename.Encoder = .base64,
        durability: Durability
    ) -> DiskFolderStorage {
        main.folder(
            folderName,
            in: directory,
            domainMask: domainMask,
            filenameEncoder: filenameEncoder,
            durability: durability
        )
    }
}

extension DiskFolderStorage {
    /// The URL of the folder of that name in one of the user's directories; among the temporary
    /// files where the system has no such directory.
    public static func url(
        forFolder folderName: String,
        in directory: FileManager.SearchPathDirectory,
        domainMask: FileManager.SearchPathDomainMask = .userDomainMask
    ) -> URL {
        let parent =
            FileSystem.userFolder(directory, domainMask) ?? FileManager.default.temporaryDirectory
        return parent.appendingPathComponent(folderName, isDirectory: true)
    }

    /// A storage on a storage of files, as on the folder of that name in one of the user's
    /// directories.
    public static func inDirectory(
        _ directory: FileManager.SearchPathDirectory,
        folderName: String,
        domainMask: FileManager.SearchPathDomainMask = .userDomainMask,
        diskStorage: Storage<URL, Data>,
        filenameEncoder: Filename.Encoder
    ) -> DiskFolderStorage {
        DiskFolderStorage(
            folderURL: url(forFolder: folderName, in: directory, domainMask: domainMask),
            diskStorage: diskStorage,
            filenameEncoder: filenameEncoder
        )
    }
}

extension Storage where Access == StorageKind.ReadWrite {
    /// The storage under another name, as one that refuses to remove.
    fileprivate func removable(_ name: String) -> RemovableStorage<Key, Value> {
        let refuse: @Sendable ((any Sendable)?) -> Reply<Void> = { key in
            .failure(
                ShallowsError(
                    .failed,
                    "The storage of the files cannot remove values.",
                    layer: name,
                    key: key
                )
            )
        }
        return RemovableStorage(
            name,
            operations.with(
                remove: { key, _ in refuse(key) },
                removeAll: { _ in refuse(nil) }
            )
        )
    }
}
