package import VellumCore

/// How a store is opened over an archive, apart from its name and its codec.
///
/// ```swift
/// var options = StoreOptions<User>()
/// options.caching = .values
/// options.disk = try Capacity(20.megaByte)
/// let users = try file.store(named: "User", codec: CodableCodec(), options)
/// ```
package struct StoreOptions<Value>: Sendable {
    /// The version of the cache that the archive holds. Opening an archive that holds another one
    /// empties it; `nil` opens whatever it holds.
    package var cacheVersion: String?
    /// Whether opening may empty an archive of another version; otherwise it fails.
    package var mayReplaceVersion = true
    /// The memory limit; `nil` for the limit of the open store, or the default.
    package var memory: Capacity?
    /// The disk limit; `nil` for the one stored in the file, or the default for an archive without
    /// a given size.
    package var disk: Capacity?
    /// The limits of an archive without given sizes.
    package var defaults = DatabaseFile.DefaultLimits.unlimited
    /// Whether memory holds decoded values or bytes; `.values` requires a `Sendable` type.
    package var caching = CachePolicy<Value>.bytes
    /// The properties to index. An empty catalog drops an existing index; `nil` leaves it
    /// unchanged.
    package var indexing: IndexCatalog<Value>?
    /// When entries of older versions are replaced; the catalog says whether they are before that.
    package var migrates = MigrationTiming.immediately
    /// What an acknowledged write survives.
    package var durability = Durability.crashSafe
    /// What to do if the archive is open with larger limits or another durability.
    package var policy = DatabaseFile.DifferencePolicy.refuse

    package init() {}
}
