/// How much a tier may hold: bytes, and entries where asked.
///
/// Bytes are the encoded bytes of live entries; keys and bookkeeping are not counted. The limits hold whenever a
/// call returns. An entry larger than the bytes skips the tier and evicts nothing.
@frozen
public struct Capacity: Hashable, Sendable {
    public let bytes: Int
    public let entries: Int

    /// - Throws: ``StoreError/Code/invalidLimit`` if a limit is zero or below.
    public init(_ size: DataSize, entries: Int? = nil) throws(StoreError) {
        guard size.bytes > 0 else {
            throw StoreError(.invalidLimit, "A limit of \(size.bytes) bytes holds nothing. Give at least one byte.")
        }
        if let entries, entries <= 0 {
            throw StoreError(.invalidLimit, "A limit of \(entries) entries holds nothing. Give at least one entry, or none for no limit.")
        }
        self.bytes = size.bytes
        self.entries = entries ?? .max
    }

    private init(unlimited: Void) {
        bytes = .max
        entries = .max
    }

    /// No limit at all.
    public static let unlimited = Capacity(unlimited: ())

    @inlinable
    public func isExceeded(byBytes bytes: Int, entries: Int) -> Bool {
        bytes > self.bytes || entries > self.entries
    }
}

/// What a tier holds.
@frozen
public struct TierTotals: Hashable, Sendable {
    public var entries: Int
    public var bytes: Int

    @inlinable
    public init(entries: Int = 0, bytes: Int = 0) {
        self.entries = entries
        self.bytes = bytes
    }
}
