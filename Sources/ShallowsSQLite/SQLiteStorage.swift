public import Foundation
public import Shallows
public import VellumCore
internal import VellumEngine

/// Values in memory over the same values in an SQLite file, both bounded: what stands where a folder of files stood.
///
/// ```swift
/// let cities = SQLiteStorage<City>("cities", in: .cachesDirectory)
/// let images = SQLiteStorage<Data>("images", in: .cachesDirectory, diskLimit: 200.megaBytes)
///     .mapValues(to: UIImage.self, transformIn: decode, transformOut: encode)
/// ```
///
/// Keys are ``Shallows/Filename``s, as those of a folder on disk are: any string. `Data` is stored as it is, any other value as CBOR
/// unless `format` says JSON. Values of both formats are read, whatever it says. `.json` makes what `mapJSONObject(_:)` makes over a
/// storage of `Data`, so that the two can read each other's files. Each write encodes once. Memory keeps decoded values, but of classes,
/// whose instances everyone gets anew. Values are encoded and decoded on any
/// thread: where types are on the main actor by default, write `nonisolated struct City: Codable`.
///
/// Works from any thread. What memory has is answered at once, where nothing that was asked for before may change it. For the rest, a
/// call with a completion and an `async` one never block the thread that makes them: the file is read and written on another, in
/// the order in which it was asked for, so that `set` and then `retrieve` finds what was set, whether or not anyone waited. The verbs
/// of ``Shallows/ErasableStorage/makeSyncStorage()`` do their work on the calling thread, after what was asked for before, and wait
/// for no queue; inside a task, too.
///
/// What was set survives the end of the process, however it ends, once the set was answered; ``Tiers/Durability`` says more or less
/// than that. Limits count the encoded bytes of values. Retrieving and setting are uses, by which it is judged what leaves first.
///
/// Making a storage opens nothing and never fails. The file is opened by whatever is asked first, or by ``open()``; if that fails, the
/// call fails with the reason, and the next one tries again. A failure is never taken for a miss, and a composition stops at it.
///
/// Two storages on one file share it and what is in memory; where they name it by the same path, their calls are in one order, too.
/// The second may ask for larger limits and not for smaller ones, and must be of the same type, or whatever is asked of it fails with
/// ``Tiers/StoreError/Code/contradiction``. Their formats may differ: that of the first to open the file is
/// written by both until both are closed. Several processes may have the file open, each with its own format.
///
/// A file that is no database, or one of another program, is left as it is, and every call fails with
/// ``Tiers/StoreError/Code/notADatabase`` or ``Tiers/StoreError/Code/foreignFile``: it may be precious, and a storage that begins
/// anew would hide that. A damaged file of ours is set aside, and what can be read of it is taken over into a new one.
public final class SQLiteStorage<Value: Codable & Sendable>: Sendable {
    /// `sqlite-` and the name of the file: in names of compositions, in errors and in reports.
    public var storageName: String { layer.name }
    /// Where the file is, or will be.
    public var fileURL: URL { layer.place.url }
    /// How long a value is valid that is set through this storage.
    public let expiration: Expiration

    let layer: SQLiteLayer<Value>
    /// The storage as transforms and compositions have it. Made of the layer, which does not hold it.
    let storage: RemovableStorage<Filename, Value>

    /// The storage whose file is `NAME.sqlite` in a folder of the user's.
    ///
    /// - Parameters:
    ///   - name: What a folder of files would be called; a `/` in it leads to a folder inside.
    ///   - directory: As for `DiskStorage.main.folder(_:in:)`.
    ///   - domainMask: Where to look for that directory.
    ///   - memoryLimit: How many bytes of encoded values memory may hold; `nil` for what is open, or 1 MB.
    ///   - diskLimit: How many bytes of encoded values the file may hold, the least recently used leaving for new ones. The limit is
    ///     stored in the file: `nil` for what it has, or no limit where nobody ever gave it one. A larger one is granted at any time; a
    ///     smaller one counts for the first storage on the file in a process. A value that is larger lives in memory alone, or is refused
    ///     with ``Tiers/StoreError/Code/tooLarge`` where it does
    ///     not fit there either.
    ///   - expiration: How long a value is valid that is set through this storage. One that is not is a miss, and leaves by itself.
    ///   - durability: What a set survives once it was answered.
    ///   - format: What values other than `Data` become when they are set. Those of every format are read.
    ///   - clock: Where instants come from; for tests.
    public convenience init(
        _ name: String, in directory: FileManager.SearchPathDirectory, domainMask: FileManager.SearchPathDomainMask = .userDomainMask,
        memoryLimit: DataSize? = nil, diskLimit: DataSize? = nil, expiration: Expiration = .never,
        durability: Durability = .crashSafe, format: CodableFormat = .cbor, clock: WallClock = .system
    ) {
        let place = SQLitePlace(
            file: name + ".sqlite", in: FileManager.default.urls(for: directory, in: domainMask).first, memoryLimit: memoryLimit,
            diskLimit: diskLimit, durability: durability, format: format, clock: clock)
        self.init(place, expiration)
    }

    /// The storage in a file of your own choice.
    ///
    /// - Parameter fileURL: A file on a local disk. Its folder is made with mode 0700 if it is missing, the file with 0600.
    public convenience init(
        fileURL: URL, memoryLimit: DataSize? = nil, diskLimit: DataSize? = nil, expiration: Expiration = .never,
        durability: Durability = .crashSafe, format: CodableFormat = .cbor, clock: WallClock = .system
    ) {
        let place = SQLitePlace(
            file: fileURL.lastPathComponent, in: fileURL.deletingLastPathComponent(), memoryLimit: memoryLimit, diskLimit: diskLimit,
            durability: durability, format: format, clock: clock)
        self.init(place, expiration)
    }

    private init(_ place: SQLitePlace, _ expiration: Expiration) {
        self.expiration = expiration
        layer = SQLiteLayer(place, expiration)
        storage = RemovableStorage(layer.name, layer.verbs)
    }
}

// Of both protocols, as ``Shallows/MemoryStorage`` is: what is made of it is a `Storage`, unless one begins with `asRemovableStorage()`.
extension SQLiteStorage: StorageProtocol, RemovableStorageProtocol {
    public func erased() -> Storage<Filename, Value> { storage.asStorage() }
    public func asReadOnlyStorage() -> ReadOnlyStorage<Filename, Value> { storage.asReadOnlyStorage() }
    public func asWriteOnlyStorage() -> WriteOnlyStorage<Filename, Value> { storage.asWriteOnlyStorage() }
    public func asRemovableStorage() -> RemovableStorage<Filename, Value> { storage }

    /// Retrieves the value under the key, and calls `completion` once. A use of it, in memory and for the disk.
    ///
    /// - Complexity: O(1) from memory, O(log n) and a decode from the file.
    @preconcurrency
    public func retrieve(forKey key: Filename, completion: @escaping @Sendable (ShallowsResult<Value>) -> Void) {
        storage.retrieve(forKey: key, completion: completion)
    }

    /// Sets the value under the key, and calls `completion` once, when the value is as durable as the storage was asked to make it.
    /// A use of it.
    ///
    /// - Complexity: O(log n) and an encode, and O(log n) for each value that must leave for it.
    @preconcurrency
    public func set(_ value: Value, forKey key: Filename, completion: @escaping @Sendable (ShallowsResult<Void>) -> Void) {
        storage.set(value, forKey: key, completion: completion)
    }

    /// Removes the value under the key, if there is one, and calls `completion` once.
    ///
    /// - Complexity: O(log n).
    @preconcurrency
    public func remove(forKey key: Filename, completion: @escaping @Sendable (ShallowsResult<Void>) -> Void) {
        storage.remove(forKey: key, completion: completion)
    }

    /// Removes every value, and calls `completion` once.
    @preconcurrency
    public func removeAll(completion: @escaping @Sendable (ShallowsResult<Void>) -> Void) {
        storage.removeAll(completion: completion)
    }
}
