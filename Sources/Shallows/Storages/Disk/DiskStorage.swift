public import Foundation
public import VellumCore

/// Files anywhere on the disk as a storage: of their bytes, by their URLs.
///
/// ```swift
/// let settings = DiskStorage.main.mapString().singleKey(settingsURL)
/// let cities = DiskStorage.main.folder("cities", in: .cachesDirectory)
/// ```
///
/// Written as those of a ``DiskFolderStorage`` are, and in order within each folder, also with those that are asked of such a storage
/// on the same path; folders do not wait for one another.
///
/// A set puts a new file in the place of the old one. It belongs to its owner alone (mode 0600), whatever the old one's mode was; a
/// link is replaced by the file, and what it led to stays as it is.
public final class DiskStorage: StorageProtocol {
    /// The storage that makes folders where they are missing.
    public static let main = DiskStorage(creatingDirectories: true)

    public let storageName = "disk"
    /// Whether the folder of a file is made where it is missing.
    public let creatingDirectories: Bool
    /// What a set of a file survives once it has returned. The default is `crashSafe`. A folder is told its own.
    public let durability: Durability

    private let files: PlainFiles

    /// - Parameters:
    ///   - creatingDirectories: Whether the folder of a file, and those above it, are made where they are missing.
    ///   - durability: What a set survives once it has returned.
    public init(creatingDirectories: Bool = true, durability: Durability = .crashSafe) {
        self.creatingDirectories = creatingDirectories
        self.durability = durability
        files = PlainFiles(creatingDirectories: creatingDirectories, sync: FileSync(durability), sweeps: .shared)
    }

    /// The folder of a file.
    public static func directoryURL(of fileURL: URL) -> URL { fileURL.deletingLastPathComponent() }

    /// What all have in common that use a file's folder.
    private func shared(of url: URL) -> SharedFolder { .shared(for: Self.directoryURL(of: url)) }

    // MARK: The storage

    public func erased() -> Storage<URL, Data> { AnyStorage(storageName, verbs) }
    public func asReadOnlyStorage() -> ReadOnlyStorage<URL, Data> { AnyStorage(storageName, verbs) }
    public func asWriteOnlyStorage() -> WriteOnlyStorage<URL, Data> { AnyStorage(storageName, verbs) }

    private var verbs: StorageVerbs<URL, Data> {
        let name = storageName
        return StorageVerbs(
            retrieve: { url, call in
                self.shared(of: url).run(name, url, call) { () throws(FileFailure) in try self.files.read(url) }.orMiss(name, url)
            },
            set: { value, url, call in
                self.shared(of: url).run(name, url, call) { () throws(FileFailure) in try self.files.write(value, to: url) }
            },
            turn: { Turn(of: self, $0) })
    }

    @preconcurrency
    public func retrieve(forKey url: URL, completion: @escaping @Sendable (ShallowsResult<Data>) -> Void) {
        erased().retrieve(forKey: url, completion: completion)
    }

    @preconcurrency
    public func set(_ data: Data, forKey url: URL, completion: @escaping @Sendable (ShallowsResult<Void>) -> Void) {
        erased().set(data, forKey: url, completion: completion)
    }
}
