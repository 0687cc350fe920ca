public import Foundation
public import VellumCore

/// A folder as a storage: one file for each key, whose bytes are the value.
///
/// ```swift
/// let images = DiskStorage.main.folder("images", in: .cachesDirectory)
/// try await images.set(png, forKey: "kitten")
/// ```
///
/// *Any string is a key*: empty, with `/`, `..` or NUL in it, 64 KiB long. ``filenameEncoder`` makes the name of its file; a name that
/// a file cannot have is made one that it can, in the folder and not outside of it. Files that earlier versions wrote under
/// other names are found, and replaced when their keys are set. Of the spellings of a key those are looked for that they can have
/// been given: as it is asked for, composed (NFC) and decomposed (NFD), and no mixture of these.
///
/// *What belongs to it.* All that is in the folder, and in folders inside it, which earlier versions made for keys with `/` in them:
/// it is listed where its names are keys, and cleared. So do not place one storage's folder inside another's. Links are
/// removed, and not followed.
///
/// *Where it runs.* Calls with a completion and `async` ones are done on a thread of the folder's, in the order in which they were
/// made, and folders do not wait for one another; a call that waits is done on its own thread. Storages of one folder that name it by
/// the same path share that order: one may be made for each call. See ``DiskStorage`` for single files.
///
/// *Durability.* A file is written beside the one it replaces and renamed: whoever reads, in this process or another, sees the old
/// value or the new one. It survives the end of the process when the call returns; power loss, where ``durability`` asks for
/// that; without it power loss may leave a file that was set lately empty, cut, or with zeros in it, where the file system does not
/// bring bytes to the disk before names. What a killed process left half-written is swept at the first set.
///
/// *Complexity.* O(size) for every verb, however many files there are; for listing, for clearing, and once for the first set in a
/// folder, which sweeps it, O(files).
///
/// Errors are ``ShallowsError``s, whose cause is a `POSIXError`.
public final class DiskFolderStorage: StorageProtocol, RemovableStorageProtocol {
    public let storageName: String
    /// The folder. It is made when something is set. If this is no file URL, or its path is empty, every call fails.
    public let folderURL: URL
    /// Makes names of keys.
    public let filenameEncoder: Filename.Encoder
    /// What a set survives once it has returned. The default is `crashSafe`.
    public let durability: Durability
    /// Whether the folder is cleared when no one holds this storage any more, nor anything made of it.
    public var clearsOnDeinit: Bool {
        get { clears.withLock { $0 } }
        set { clears.withLock { $0 = newValue } }
    }

    private let clears = Locked(false)
    private let files: FolderFiles

    /// - Parameters:
    ///   - folderURL: Where the files lie.
    ///   - filenameEncoder: Makes names of keys. Those of `.base64` and `.base64URL` find each other's files.
    ///   - durability: What a set survives once it has returned.
    ///   - creatingDirectories: Whether the folder, and those above it, are made where they are missing.
    public init(
        folderURL: URL, filenameEncoder: Filename.Encoder = .base64, durability: Durability = .crashSafe, creatingDirectories: Bool = true
    ) {
        self.folderURL = folderURL
        self.filenameEncoder = filenameEncoder
        self.durability = durability
        storageName = "disk-\(folderURL.lastPathComponent)"
        files = FolderFiles(
            folder: folderURL, encoder: filenameEncoder, sync: FileSync(durability), creatingDirectories: creatingDirectories,
            shared: .shared(for: folderURL), sweeps: .shared)
    }

    deinit {
        if clearsOnDeinit { clear() }
    }

    /// Where the value of the key is written. The file is named as ``filenameEncoder`` says, but for what no file can be named.
    ///
    /// Until the key is set again its value may lie elsewhere: in a file that an earlier version wrote under another name. And where
    /// a folder has the name, the value is written beside it. So read values by ``retrieve(forKey:completion:)`` and not from here.
    public func fileURL(forFilename filename: Filename) -> URL {
        folderURL.appendingPathComponent(files.fileName(for: filename), isDirectory: false)
    }

    /// The keys that have a value, in no order. Not a snapshot: what is set meanwhile may be among them. A folder inside that cannot be
    /// read, and a file that must be read to know its key and cannot be, are left out.
    ///
    /// - Throws: ``ShallowsError`` if the folder cannot be read, or a `.custom` encoder has no way back from names to keys.
    public func keys() async throws(ShallowsError) -> [Filename] {
        try await keys(.completing).outcome().get()
    }

    /// The same on this thread.
    package func keysAtOnce() throws(ShallowsError) -> [Filename] {
        try keys(.waiting).outcomeAtOnce.get()
    }

    private func keys(_ call: Call) -> Reply<[Filename]> {
        files.shared.run(storageName, nil, call) { [files] () throws(FileFailure) in try files.keys() }
    }

    /// Removes everything in the folder, and the folder, after what was asked for before. What others set meanwhile may be removed, too,
    /// or stay, and then the folder stays with it. Blocks for the disk. A failure is reported;
    /// ``RemovableStorageProtocol/removeAll()`` tells of it.
    public func clear() {
        // Nothing here holds the storage, which may be on its way out.
        let outcome = files.shared.run(storageName, nil, .waiting) { [files] () throws(FileFailure) in try files.clear() }.outcomeAtOnce
        if case .failure(let error) = outcome { Call.waiting.report(StorageReport(.removalFailed, layer: storageName, error)) }
    }

    // MARK: The storage

    public func erased() -> Storage<Filename, Data> { AnyStorage(storageName, verbs) }
    public func asReadOnlyStorage() -> ReadOnlyStorage<Filename, Data> { AnyStorage(storageName, verbs) }
    public func asWriteOnlyStorage() -> WriteOnlyStorage<Filename, Data> { AnyStorage(storageName, verbs) }
    public func asRemovableStorage() -> RemovableStorage<Filename, Data> { AnyStorage(storageName, verbs) }

    private var verbs: StorageVerbs<Filename, Data> {
        let (shared, files, name) = (files.shared, files, storageName)
        // They hold the storage, which clears the folder when no one does.
        return StorageVerbs(
            retrieve: { key, call in
                shared.run(name, key, call) { () throws(FileFailure) in try self.files.read(key) }.orMiss(name, key)
            },
            set: { value, key, call in shared.run(name, key, call) { () throws(FileFailure) in try files.write(value, for: key) } },
            remove: { key, call in shared.run(name, key, call) { () throws(FileFailure) in _ = try files.remove(key) } },
            removeAll: { call in shared.run(name, nil, call) { () throws(FileFailure) in try files.clear() } },
            turn: { Turn(of: self, $0) })
    }

    @preconcurrency
    public func retrieve(forKey filename: Filename, completion: @escaping @Sendable (ShallowsResult<Data>) -> Void) {
        erased().retrieve(forKey: filename, completion: completion)
    }

    @preconcurrency
    public func set(_ data: Data, forKey filename: Filename, completion: @escaping @Sendable (ShallowsResult<Void>) -> Void) {
        erased().set(data, forKey: filename, completion: completion)
    }

    @preconcurrency
    public func remove(forKey filename: Filename, completion: @escaping @Sendable (ShallowsResult<Void>) -> Void) {
        asRemovableStorage().remove(forKey: filename, completion: completion)
    }

    @preconcurrency
    public func removeAll(completion: @escaping @Sendable (ShallowsResult<Void>) -> Void) {
        asRemovableStorage().removeAll(completion: completion)
    }
}

// MARK: Making one

extension DiskStorage {
    /// A folder of that name in one of the user's directories.
    ///
    /// ```swift
    /// let cities = DiskStorage.main.folder("cities", in: .cachesDirectory).mapJSONObject(City.self)
    /// ```
    public func folder(
        _ folderName: String, in directory: FileManager.SearchPathDirectory,
        domainMask: FileManager.SearchPathDomainMask = .userDomainMask, filenameEncoder: Filename.Encoder = .base64,
        durability: Durability = .crashSafe
    ) -> DiskFolderStorage {
        DiskFolderStorage(
            folderURL: DiskFolderStorage.url(forFolder: folderName, in: directory, domainMask: domainMask),
            filenameEncoder: filenameEncoder, durability: durability, creatingDirectories: creatingDirectories)
    }

    /// The same, of ``main``.
    public static func folder(
        _ folderName: String, in directory: FileManager.SearchPathDirectory,
        domainMask: FileManager.SearchPathDomainMask = .userDomainMask, filenameEncoder: Filename.Encoder = .base64,
        durability: Durability = .crashSafe
    ) -> DiskFolderStorage {
        main.folder(folderName, in: directory, domainMask: domainMask, filenameEncoder: filenameEncoder, durability: durability)
    }
}

extension DiskFolderStorage {
    /// Where a folder of that name lies in one of the directories of a domain. Where the system has no such directory, among the
    /// temporary files.
    public static func url(
        forFolder folderName: String, in directory: FileManager.SearchPathDirectory,
        domainMask: FileManager.SearchPathDomainMask = .userDomainMask
    ) -> URL {
        let parent = FileManager.default.urls(for: directory, in: domainMask).first ?? FileManager.default.temporaryDirectory
        return parent.appendingPathComponent(folderName, isDirectory: true)
    }
}
