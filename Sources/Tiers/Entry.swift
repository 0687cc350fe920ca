public import Foundation

/// What a tier keeps under a key: encoded bytes and their dates.
public struct Entry: Hashable, Sendable {
    /// The encoded value. Their count is what every limit counts.
    public var bytes: Data
    /// When the value was recorded.
    public var written: WallInstant
    /// When it stops being valid; `nil` is never.
    public var expires: WallInstant?
    /// The version it was recorded under, where its owner tells versions apart.
    public var version: String?
    /// The tier's own handle on the entry, never used twice; 0 where the tier has none.
    public var row: Int64
    /// What an index is to hold of the value, where whoever writes the entry knows.
    public var indexed: IndexedValues?

    public init(
        bytes: Data, written: WallInstant, expires: WallInstant? = nil, version: String? = nil, row: Int64 = 0,
        indexed: IndexedValues? = nil
    ) {
        self.bytes = bytes
        self.written = written
        self.expires = expires
        self.version = version
        self.row = row
        self.indexed = indexed
    }

    /// When it is valid.
    public var validity: Validity { Validity(written: written, expires: expires) }
}

/// The span of wall-clock time in which an entry may be returned.
///
/// An entry that expires is invalid before it was written, too, beyond a slack of five minutes: after the clock
/// went back, an entry dated in the future is expired, not immortal. An entry that never expires is always valid.
@frozen
public struct Validity: Hashable, Sendable {
    public var from: WallInstant
    public var until: WallInstant

    /// Always.
    public static let forever = Validity(from: WallInstant(rawValue: .min), until: WallInstant(rawValue: .max))

    /// How far in the future an entry may be dated before it is taken for expired: five minutes, in milliseconds.
    public static let slack: Int64 = 5 * 60 * 1000

    @inlinable
    public init(from: WallInstant, until: WallInstant) {
        self.from = from
        self.until = until
    }

    public init(written: WallInstant, expires: WallInstant?) {
        guard let expires else {
            self = .forever
            return
        }
        self.init(from: written.advanced(byMilliseconds: -Self.slack), until: expires)
    }

    @inlinable
    public func contains(_ now: WallInstant) -> Bool {
        from <= now && (now < until || until.rawValue == .max)
    }
}
