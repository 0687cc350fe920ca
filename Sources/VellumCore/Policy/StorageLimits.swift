/// The limits of memory and the disk, in bytes of encoded values.
public struct StorageLimits: Hashable, Sendable {
    /// The limit of memory.
    public var memory: DataSize
    /// The limit of the disk.
    public var disk: DataSize

    /// Creates a pair of limits.
    ///
    /// - Parameters:
    ///   - memory: In bytes of encoded values.
    ///   - disk: In bytes of encoded values.
    public init(memory: DataSize, disk: DataSize) {
        self.memory = memory
        self.disk = disk
    }
}
