public import VellumCore

/// Limits, expiration, durability and format of a ``SQLiteStorage``.
///
/// ```swift
/// let images = SQLiteStorage<Data>("images", in: .cachesDirectory, options: .init(diskLimit: 200.megaBytes))
/// ```
public struct SQLiteStorageOptions: Sendable {
    /// How many bytes of encoded values memory may hold. `nil` takes the limit of the storage that has the file open, or 1 MB.
    public var memoryLimit: DataSize?
    /// How many bytes of encoded values the file may hold; the least recently used are evicted for new ones.
    ///
    /// The limit is stored in the file. `nil` takes the stored limit, or none where no limit was ever stored. A larger limit is granted at
    /// any time; a smaller one applies to the first storage on the file in a process. A value that is larger is stored in memory only, or
    /// refused with ``VellumError/Code/tooLarge`` where it does not fit there either.
    public var diskLimit: DataSize?
    /// How long a value that is set through the storage is valid. An expired value is a miss, and is removed in the background.
    public var expiration: Expiration
    /// What a value that was set survives.
    public var durability: Durability
    /// The format of values other than `Data`. Values of every format are read.
    public var format: CodableFormat
    /// The source of the time; replaceable for tests.
    public var clock: WallClock

    /// Creates options. Those that are not given have their defaults.
    public init(
        memoryLimit: DataSize? = nil, diskLimit: DataSize? = nil, expiration: Expiration = .never, durability: Durability = .crashSafe,
        format: CodableFormat = .cbor, clock: WallClock = .system
    ) {
        self.memoryLimit = memoryLimit
        self.diskLimit = diskLimit
        self.expiration = expiration
        self.durability = durability
        self.format = format
        self.clock = clock
    }
}
