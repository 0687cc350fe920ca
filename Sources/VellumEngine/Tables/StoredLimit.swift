internal import VellumCore

/// The disk limit of an archive, as its file stores it. It belongs to the archive, not to the
/// process that opens it (decision 33).
struct StoredLimit: Equatable, Sendable {
    /// Encoded bytes; `Int64.max` for no limit.
    var bytes: Int64
    /// 1 once a caller set the archive's size, 0 while it has a default.
    var isGiven: Int64

    static func given(_ capacity: Capacity) -> StoredLimit {
        StoredLimit(bytes: Int64(capacity.bytes), isGiven: 1)
    }

    /// The limit of an archive before it is first opened.
    static let unknown = StoredLimit(bytes: 1, isGiven: 0)

    var isPossible: Bool { bytes > 0 && 0...1 ~= isGiven }

    var size: DataSize { DataSize(bytes: Int(clamping: bytes)) }

    /// The limit once the archive is opened.
    ///
    /// - Parameters:
    ///   - given: The size that the caller sets, if any. It may be more or less than the present
    ///     one.
    ///   - fallback: The limit of an archive without a given size. A smaller one than the present
    ///     limit has no effect.
    ///   - held: How many bytes the archive holds. A default limit is never less.
    func opened(given: Capacity?, otherwise fallback: Capacity, holding held: Int64) -> StoredLimit
    {
        if let given { return .given(given) }
        if isGiven == 1 { return self }
        return StoredLimit(bytes: max(bytes, Int64(fallback.bytes), held), isGiven: 0)
    }
}
