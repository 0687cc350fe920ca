internal import CBORCoding
public import Foundation
internal import ModelVersions
public import VellumCore
internal import VellumEngine

// Objects of a type that has changed.

extension ArchiveStore {
    /// Returns the keys of the objects that cannot be decoded, in the order in which they were
    /// first recorded. Does not affect the eviction order.
    ///
    /// Objects of a newer version, which a newer program can decode, are not among them, and
    /// neither are damaged ones. Reads every object, and blocks for the disk; use ``perform(_:)``
    /// where that matters.
    ///
    /// - Complexity: O(n), with one decode for each object.
    /// - Throws: ``VellumError`` if the disk fails.
    public func undecodableKeys() throws -> [String] {
        try whileOpen(store.undecodableKeys().map(\.normalized))
    }

    /// Deletes the objects that ``undecodableKeys()`` lists, in one transaction.
    ///
    /// - Returns: How many were deleted.
    /// - Complexity: O(n), with one decode for each object.
    /// - Throws: ``VellumError`` if the disk fails. No object is deleted.
    @discardableResult
    public func deleteUndecodable() throws -> Int {
        try whileOpen(store.removeUndecodable())
    }

    /// Returns the bytes that were recorded for the object with the key, or `nil` if there is none.
    /// Decodes nothing, and does not affect the eviction order.
    ///
    /// - Complexity: O(log n).
    /// - Throws: ``VellumError`` if the disk fails or the object is damaged.
    public func encodedData(forKey key: String) throws -> Data? {
        try whileOpen(store.encodedBytes(forKey: EntryKey(key))?.bytes)
    }

    /// Returns the object with the key as a CBOR value, or `nil` if there is none. Does not affect
    /// the eviction order.
    ///
    /// ```swift
    /// for key in try invoices.undecodableKeys() {
    ///     let customer = try invoices.cborValue(forKey: key)?["customer"]
    ///     print(customer ?? "no customer")
    /// }
    /// ```
    ///
    /// - Complexity: O(log n), and O(s) for an object of s bytes.
    /// - Throws: ``VellumError`` if the disk fails, the object is damaged, or was not recorded as
    ///   CBOR.
    public func cborValue(forKey key: String) throws -> CBORValue? {
        try withOpenHandle { () throws(VellumError) in
            guard let (bytes, version) = try store.encodedBytes(forKey: EntryKey(key)) else {
                return nil
            }
            do {
                return try StoredObject(version: Int(clamping: version), key: key, data: bytes)
                    .value()
            } catch {
                throw VellumError(
                    .notDecodable,
                    "The object was not recorded as CBOR. Use 'encodedData(forKey:)'.",
                    cause: error
                )
            }
        }
    }

    /// Returns how far the objects of older versions were migrated (``VersionedArchive``). Complete
    /// for a type without a version.
    ///
    /// ``StoreEvent/migrated(_:)`` reports each step, and the last. Objects that were not migrated
    /// yet are migrated when they are read, but one that gets another primary key is found under
    /// its old one until then. If a program with another version opens the archive meanwhile, the
    /// migration ends, and goes on at the next opening.
    ///
    /// - Complexity: O(m) for m objects that an older program has recorded since, or that cannot be
    ///   decoded.
    /// - Throws: ``VellumError`` if the disk fails.
    public func migrationProgress() throws -> MigrationProgress {
        try whileOpen(store.migrationProgress())
    }
}
