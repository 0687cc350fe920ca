/// How much a tier may hold: bytes, and entries where asked.
///
/// Bytes are the encoded bytes of live entries; keys and bookkeeping are not counted. The limits hold whenever a
/// call returns. An entry larger than the bytes skips the tier and evicts nothing.
@frozen
public struct Capacity: Hashable, Sendable {
    public let bytes: Int
    public let entries: Int

    /// - Throws: ``VellumError/Code/invalidLimit`` if a limit is zero or below.
    public init(_ size: DataSize, entries: Int? = nil) throws(VellumError) {
        guard size.bytes > 0 else {
            throw VellumError(.invalidLimit, "A limit of \(size.bytes) bytes holds nothing. Give at least one byte.")
        }
        if let entries, entries <= 0 {
            throw VellumError(.invalidLimit, "A limit of \(entries) entries holds nothing. Give at least one entry, or none for no limit.")
        }
        self.bytes = size.bytes
        self.entries = entries ?? .max
    }

    /// The limit that a caller may leave out; `nil` if it did.
    ///
    /// - Throws: ``VellumError/Code/invalidLimit`` if it is zero or below.
    package init?(optional size: DataSize?) throws(VellumError) {
        guard let size else { return nil }
        try self.init(size)
    }

    /// Limits that are known to be above zero.
    package init(bytes: Int, entries: Int) {
        self.bytes = bytes
        self.entries = entries
    }

    /// No limit at all.
    public static let unlimited = Capacity(bytes: .max, entries: .max)

    /// Whether nothing of what `other` holds would have to leave.
    package func isAtLeast(_ other: Capacity) -> Bool { bytes >= other.bytes && entries >= other.entries }

    @inlinable
    public func isExceeded(byBytes bytes: Int, entries: Int) -> Bool {
        bytes > self.bytes || entries > self.entries
    }
}

extension Capacity: CustomStringConvertible {
    /// The size, and the number of entries where there is a limit of them.
    public var description: String {
        entries == .max ? "\(DataSize(bytes: bytes))" : "\(DataSize(bytes: bytes)) and \(entries) entries"
    }
}

/// What a tier holds.
@frozen
public struct StorageUsage: Hashable, Sendable {
    public var entries: Int
    public var bytes: Int

    @inlinable
    public init(entries: Int = 0, bytes: Int = 0) {
        self.entries = entries
        self.bytes = bytes
    }
}
