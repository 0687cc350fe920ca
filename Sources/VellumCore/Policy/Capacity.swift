/// A limit in bytes, and optionally in entries, of memory or the disk.
///
/// Only the encoded bytes of live entries count, not keys and bookkeeping. The limits hold whenever
/// a call returns; that of memory, to within the entries that other threads are writing. An entry
/// larger than the limit of memory or the disk is not stored there and evicts nothing there.
@frozen
public struct Capacity: Hashable, Sendable {
    /// The limit in bytes.
    public let bytes: Int
    /// The limit in entries; `Int.max` if there is none.
    public let entries: Int

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - size: The limit in bytes; at least one.
    ///   - entries: The limit in entries, at least one; `nil` means no limit.
    /// - Throws: ``VellumError/Code/invalidLimit`` if a limit is zero or negative.
    public init(_ size: DataSize, entries: Int? = nil) throws(VellumError) {
        guard size.bytes > 0 else {
            throw VellumError(
                .invalidLimit,
                "A limit of \(size.bytes) bytes holds nothing. Give at least one byte."
            )
        }
        if let entries, entries <= 0 {
            throw VellumError(
                .invalidLimit,
                "A limit of \(entries) entries holds nothing. Give at least one entry."
            )
        }
        self.bytes = size.bytes
        self.entries = entries ?? .max
    }

    /// Creates a limit from an optional size; `nil` if there is none.
    ///
    /// - Parameter name: What the error calls the limit.
    /// - Throws: ``VellumError/Code/invalidLimit`` if it is zero or negative.
    package init?(optional size: DataSize?, as name: String) throws(VellumError) {
        guard let size else { return nil }
        guard size.bytes > 0 else {
            throw VellumError(
                .invalidLimit,
                "The \(name) limit is \(size.bytes) bytes. Give at least one byte, or .unlimited."
            )
        }
        try self.init(size)
    }

    /// Creates a limit from numbers that are known to be positive.
    package init(bytes: Int, entries: Int) {
        self.bytes = bytes
        self.entries = entries
    }

    /// No limit.
    public static let unlimited = Capacity(bytes: .max, entries: .max)

    /// Whether everything that fits into `other` fits into this limit.
    package func isAtLeast(_ other: Capacity) -> Bool {
        bytes >= other.bytes && entries >= other.entries
    }

    /// Whether so many bytes or entries exceed the limit.
    @inlinable
    public func isExceeded(byBytes bytes: Int, entries: Int) -> Bool {
        bytes > self.bytes || entries > self.entries
    }
}

extension Capacity: CustomStringConvertible {
    /// The size, and the number of entries if it is limited.
    public var description: String {
        entries == .max
            ? "\(DataSize(bytes: bytes))" : "\(DataSize(bytes: bytes)) and \(entries) entries"
    }
}

/// The number of entries and bytes that memory or the disk holds.
@frozen
public struct StorageUsage: Hashable, Sendable {
    /// The number of entries.
    public var entries: Int
    /// The number of encoded bytes.
    public var bytes: Int

    /// Creates a usage.
    @inlinable
    public init(entries: Int = 0, bytes: Int = 0) {
        self.entries = entries
        self.bytes = bytes
    }
}

extension StorageUsage: CustomStringConvertible {
    /// The number of entries and their size, such as `12 entries, 3 kB`.
    public var description: String {
        "\(entries) \(entries == 1 ? "entry" : "entries"), \(DataSize(bytes: bytes))"
    }
}
