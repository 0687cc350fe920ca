public import Foundation
public import Shallows
public import VellumCore

// Decision 25.

/// Values in memory and in an SQLite file, both with limits: a replacement for a folder of files.
///
/// ```swift
/// let cities = SQLiteStorage<City>("cities", in: .cachesDirectory)
/// let images = SQLiteStorage<Data>(
///     "images", in: .cachesDirectory,
///     options: .init(diskLimit: 200.megaBytes))
///     .mapValues(
///         to: UIImage.self, transformIn: decode, transformOut: encode)
/// ```
///
/// *Keys and values.* Keys are ``Filename``s, like those of a folder: any string. `Data` is stored
/// as it is, any other value as CBOR, or as JSON where ``SQLiteStorageOptions/format`` says so.
/// Values of both formats are read. `.json` writes what `mapJSONObject(_:)` writes over a storage
/// of `Data`, so that each can read the files of the other. Each write encodes once. Memory holds
/// decoded values; instances of classes are decoded anew for each caller. Values are encoded and
/// decoded on any thread: in a module whose types are isolated to the main actor by default, write
/// `nonisolated struct City: Codable`.
///
/// *Threads.* Works from any thread. Values in memory are returned synchronously, unless an earlier
/// call may change them. Other calls with a completion and `async` calls do not block the caller's
/// thread: they run on another one, in the order in which they were made, so that `set` and then
/// `retrieve` returns the value that was set, awaited or not. The calls of
/// ``ErasableStorage/makeSyncStorage()`` run on the calling thread, after the calls that were made
/// before, and can be used inside a task.
///
/// *Durability and eviction.* A value survives the end of the process once the call that set it has
/// completed; see ``Durability``. Limits count the encoded bytes of values. Retrieving and setting
/// make a value the most recently used, and the least recently used are evicted first.
///
/// *Several storages on one file* share the file and its memory, and the order of their calls where
/// they name it by the same path. A second one may ask for larger limits and not for smaller ones,
/// and must have the same type; otherwise its calls fail with ``VellumError/Code/contradiction``.
/// If their formats differ, both write that of the first to open the file, until both are closed.
/// Several processes may have the file open, each with its own format.
///
/// *Damage.* A file that is not a database, or that belongs to another program, is left unchanged,
/// and every call fails with ``VellumError/Code/notADatabase`` or ``VellumError/Code/foreignFile``.
/// A damaged file of this package is set aside, and its readable values are copied into a new one.
public final class SQLiteStorage<Value: Codable & Sendable>: ForwardingStorageProtocol,
    RemovableStorageProtocol
{
    /// The key of a value.
    public typealias Key = Filename

    /// `sqlite-` and the name of the file.
    public var storageName: String { layer.name }
    /// The file. It is created by the first call.
    public var fileURL: URL { layer.configuration.url }
    /// How long a value that is set through this storage is valid.
    public var expiration: Expiration { layer.configuration.options.expiration }
    /// The storage as transforms and compositions use it.
    public let underlyingStorage: RemovableStorage<Filename, Value>

    let layer: SQLiteLayer<Value>

    /// Creates a storage on the file `NAME.sqlite` in one of the user's directories. Opens nothing:
    /// the first call does.
    ///
    /// - Parameters:
    ///   - name: The name of the file, without its extension; equal names name one file. With a `/`
    ///     in it the file lies in a folder inside the directory; with a part `..`, every call fails
    ///     with ``VellumError/Code/cannotOpen``.
    ///   - directory: The directory, as for `DiskStorage.main.folder(_:in:)`.
    ///   - domainMask: Where to look for that directory.
    ///   - options: Limits, expiration, durability and format.
    public convenience init(
        _ name: String,
        in directory: FileManager.SearchPathDirectory,
        domainMask: FileManager.SearchPathDomainMask = .userDomainMask,
        options: SQLiteStorageOptions = SQLiteStorageOptions()
    ) {
        let file = EntryKey(name).normalized + ".sqlite"
        self.init(
            SQLiteConfiguration(
                file: file,
                in: FileSystem.userFolder(directory, domainMask),
                options
            )
        )
    }

    /// Creates a storage on a file. Opens nothing: the first call does.
    ///
    /// - Parameters:
    ///   - fileURL: A file on a local disk. If it is missing, it is created with mode 0600, and its
    ///     folder with mode 0700.
    ///   - options: Limits, expiration, durability and format.
    public convenience init(fileURL: URL, options: SQLiteStorageOptions = SQLiteStorageOptions()) {
        self.init(
            SQLiteConfiguration(
                file: fileURL.lastPathComponent,
                in: fileURL.deletingLastPathComponent(),
                options
            )
        )
    }

    private init(_ configuration: SQLiteConfiguration) {
        layer = SQLiteLayer(configuration)
        // Made of the layer, which does not retain it.
        underlyingStorage = RemovableStorage(layer.name, layer.operations)
    }
}

/// Limits, expiration, durability and format of a ``SQLiteStorage``.
///
/// ```swift
/// let images = SQLiteStorage<Data>(
///     "images", in: .cachesDirectory,
///     options: .init(diskLimit: 200.megaBytes))
/// ```
public struct SQLiteStorageOptions: Sendable {
    /// How many bytes of encoded values memory may hold. `nil` takes the limit of the storage that
    /// has the file open, or 1 MB.
    public var memoryLimit: DataSize?
    /// How many bytes of encoded values the file may hold; the least recently used are evicted for
    /// new ones.
    ///
    /// The limit is stored in the file. `nil` takes the stored limit, or none where no limit was
    /// ever stored. A larger limit is granted at any time; a smaller one applies to the first
    /// storage on the file in a process. A value that is larger is stored in memory only, or
    /// refused with ``VellumError/Code/tooLarge`` where it does not fit there either.
    public var diskLimit: DataSize?
    /// How long a value that is set through the storage is valid. An expired value is a miss, and
    /// is removed in the background.
    public var expiration: Expiration
    /// What a value that was set survives.
    public var durability: Durability
    /// The format of values other than `Data`. Values of every format are read.
    public var format: CodableFormat
    /// The source of the time; replaceable for tests.
    public var clock: WallClock
    /// When the files can be read on Apple platforms; `nil` leaves what they have. Calls on a
    /// locked device fail with ``VellumError/Code/deviceLocked``, if the protection forbids them.
    ///
    /// It belongs to the folder, so that the log and the other side files of the database have it:
    /// give the file a folder of its own. With `.complete`, suspend before the device is locked.
    /// Set when the file is opened. Without effect on Linux.
    public var fileProtection: FileProtectionType?
    /// Whether backups of Apple platforms leave out the folder of the file. `false` leaves what it
    /// has.
    public var excludedFromBackup = false

    /// Creates options. Those that are not given have their defaults.
    public init(
        memoryLimit: DataSize? = nil,
        diskLimit: DataSize? = nil,
        expiration: Expiration = .never,
        durability: Durability = .crashSafe,
        format: CodableFormat = .cbor,
        clock: WallClock = .system
    ) {
        self.memoryLimit = memoryLimit
        self.diskLimit = diskLimit
        self.expiration = expiration
        self.durability = durability
        self.format = format
        self.clock = clock
    }

    /// Creates options for a file of which Apple platforms are told when it can be read, and
    /// whether it is backed up. Those that are not given have their defaults.
    ///
    /// ```swift
    /// let tokens = SQLiteStorage<Data>(
    ///     fileURL: url, options: .init(fileProtection: .completeUnlessOpen))
    /// ```
    @_disfavoredOverload
    public init(
        memoryLimit: DataSize? = nil,
        diskLimit: DataSize? = nil,
        expiration: Expiration = .never,
        durability: Durability = .crashSafe,
        fileProtection: FileProtectionType? = nil,
        excludedFromBackup: Bool = false
    ) {
        self.init(
            memoryLimit: memoryLimit,
            diskLimit: diskLimit,
            expiration: expiration,
            durability: durability
        )
        self.fileProtection = fileProtection
        self.excludedFromBackup = excludedFromBackup
    }
}
