public import Foundation
internal import Tiers

/// Files anywhere on the disk as a storage: of their bytes, by their URLs.
///
/// ```swift
/// let settings = DiskStorage.main.mapString().singleKey(settingsURL)
/// let cities = DiskStorage.main.folder("cities", in: .cachesDirectory)
/// ```
///
/// Written as those of a ``DiskFolderStorage`` are, and in order within each folder; folders do not wait for one another.
public final class DiskStorage: StorageProtocol {
    /// The storage that makes folders where they are missing.
    public static let main = DiskStorage(creatingDirectories: true)

    public let storageName = "disk"
    /// Whether the folder of a file is made where it is missing.
    public let creatingDirectories: Bool

    private let files: PlainFiles
    private let lanes = Locked<[URL: Lane]>([:])

    public init(creatingDirectories: Bool = true) {
        self.creatingDirectories = creatingDirectories
        files = PlainFiles(creatingDirectories: creatingDirectories)
    }

    /// The folder of a file.
    public static func directoryURL(of fileURL: URL) -> URL { fileURL.deletingLastPathComponent() }

    /// The lane of a file's folder.
    private func lane(of url: URL) -> Lane {
        let folder = Self.directoryURL(of: url).standardizedFileURL
        return lanes.withLock { lanes in
            if let lane = lanes[folder] { return lane }
            // Of whoever writes in that many folders, those of which nothing is asked now are forgotten.
            if lanes.count >= 1000 { lanes = lanes.filter { !$0.value.isIdle } }
            let lane = Lane()
            lanes[folder] = lane
            return lane
        }
    }

    // MARK: The storage

    public func erased() -> Storage<URL, Data> { AnyStorage(storageName, verbs) }
    public func asReadOnlyStorage() -> ReadOnlyStorage<URL, Data> { AnyStorage(storageName, verbs) }
    public func asWriteOnlyStorage() -> WriteOnlyStorage<URL, Data> { AnyStorage(storageName, verbs) }

    private var verbs: StorageVerbs<URL, Data> {
        let name = storageName
        return StorageVerbs(
            retrieve: { url, call in
                self.lane(of: url).run(name, url, call) { () throws(FileFailure) in try self.files.read(url) }.orMiss(name, url)
            },
            set: { value, url, call in
                self.lane(of: url).run(name, url, call) { () throws(FileFailure) in try self.files.write(value, to: url) }
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
