public import CBORCoding
public import Foundation
public import VellumCore
internal import VellumEngine

/// An archive, a cache or a storage of a file, without its type.
public struct RawArchive: Sendable {
    public let name: String

    /// An index that the file has.
    public struct Index: Hashable, Sendable {
        /// The properties, most significant first.
        public var properties: [String]
        /// Whether it has an entry for each element of a collection.
        public var isOfElements: Bool
    }

    /// What an archive holds.
    public struct Summary: Hashable, Sendable {
        public var entries: Int
        /// The sum of their encoded bytes.
        public var size: DataSize
        /// The disk limit; `nil` for none.
        public var limit: DataSize?
        /// Whether a program has set the limit: otherwise it is the default.
        public var isLimitGiven: Bool
        /// When the oldest and the newest entry were recorded.
        public var oldest: Date?
        public var newest: Date?
        public var lastUsed: Date?
        /// The version of the cache; `nil` if it is not one.
        public var cacheVersion: String?
        /// The version of the type that the newest entry was recorded with; 0 for none.
        public var typeVersion: Int
        public var indexes: [Index]
        /// How many entries were removed and wait for being deleted.
        public var waiting: Int
    }

    /// What is known of an entry besides its value.
    public struct Entry: Hashable, Sendable {
        public var key: String
        /// Encoded bytes.
        public var size: Int
        public var recorded: Date
        /// When it expires for every program; `nil` if it does not, or each program says.
        public var expires: Date?
        /// How long after its last use it expires; `nil` if that does not matter.
        public var idle: Duration?
        public var lastUsed: Date
        /// The version of the type that it was recorded with; 0 for none.
        public var typeVersion: Int
    }

    /// The order of a listing.
    public enum Order: Sendable {
        /// In which the keys were first recorded.
        case recorded
        /// By last use, the newest first.
        case use
        /// By size, the largest first.
        case size
    }

    /// An entry and its value.
    public struct Object: Sendable {
        public var entry: Entry
        public var value: CBORValue
    }

    /// What a report shows.
    public struct Statistics: Sendable {
        /// How many entries have sizes from a power of two up to the next, by that power.
        public var sizes: [Int: Int]
        /// How many entries were recorded on a day, by the number of days before today.
        public var ages: [Int: Int]
        /// How many entries were recorded with a version of the type.
        public var typeVersions: [Int: Int]
        public var expired: Int
    }

    public func summary() throws(VellumError) -> Summary { fatalError() }

    /// Reads every entry, without its value.
    public func statistics() throws(VellumError) -> Statistics { fatalError() }

    /// The entries of keys.
    public func entries(withPrefix prefix: String = "", order: Order = .recorded, limit: Int? = nil) throws(VellumError) -> [Entry] { fatalError() }

    public func entry(forKey key: String) throws(VellumError) -> Entry? { fatalError() }

    /// The bytes as they were recorded.
    public func encodedData(forKey key: String) throws(VellumError) -> Data? { fatalError() }

    /// The value, of CBOR or JSON; `.bytes` if the bytes are neither.
    public func value(forKey key: String) throws(VellumError) -> CBORValue? { fatalError() }

    /// The objects that match.
    public func find(_ query: RawQuery) throws(VellumError) -> [Object] { fatalError() }

    public func count(_ query: RawQuery) throws(VellumError) -> Int { fatalError() }

    public func explain(_ query: RawQuery) throws(VellumError) -> QueryExplanation { fatalError() }

    /// Removes entries. Returns how many there were.
    public func remove(keys: [String]) throws(VellumError) -> Int { fatalError() }
}

/// A query of fields: `country == "CH" and elevation > 2000 sort name desc limit 10`.
public struct RawQuery: Sendable {
    /// Where the text is wrong, and why.
    public struct SyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The offset in characters.
        public var offset: Int
        public var message: String
        /// The text with a mark under the place.
        public var description: String
    }

    public init(_ text: String) throws(SyntaxError) { fatalError() }
}

extension CBORValue {
    /// The value as JSON that a person reads: dates by ISO 8601, decimal numbers in full, bytes in Base64.
    public func json(isPretty: Bool = false) -> String { fatalError() }
}
