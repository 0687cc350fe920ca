public import Foundation
public import VellumCore
internal import VellumEngine

/// A type that records objects and returns them: the methods of ``ArchiveManager``.
///
/// No method throws. If an operation fails, it returns `nil` or an empty result; the conforming
/// type documents how it reports the error.
public protocol Archivist<Archive> {
    /// The type of the objects.
    associatedtype Archive: Archivable

    /// The limit, in bytes of encoded objects.
    var maxSize: DataSize { get }
    /// The current size, in bytes of encoded objects.
    var currentSize: DataSize { get }

    /// Returns when the object with the key was last recorded or accessed, or `nil` if there is
    /// none.
    func latestAccessedTime(for key: String) -> Date?
    /// Deletes every object that was last recorded or accessed longer ago than the interval, in
    /// seconds.
    func deleteAllInvalidateArchives(invalidateTimeInterval: TimeInterval)

    /// Records an object under its key and replaces the object that was there.
    func record(_ object: Archive)
    /// Records an object, whether or not there is one with its key.
    func update(_ object: Archive)
    /// Returns the object with the key, or `nil`.
    func access(archiveWithKey key: String) -> Archive?
    /// Returns all objects, most recently used first.
    func accessAll() -> [Archive]
    /// Returns the most recently used objects, at most `limit`, most recently used first.
    func accessAll(limitedBy limit: Int) -> [Archive]
    /// Returns the objects that result from the steps of a query, executed in order.
    func process(queries: [Query<Archive>]) -> [Archive]
    /// Deletes the object with the key, if there is one.
    func delete(archiveWithKey key: String)
    /// Deletes every object.
    func deleteAll()

    /// Records the objects.
    func insert(all objects: [Archive])
    /// Deletes the objects with the keys. Keys without an object are ignored.
    func delete(allKeys keys: [String])
}

extension Archivist {
    /// Records an object, whether or not there is one with its key.
    public func update(_ object: Archive) { record(object) }

    /// Returns all objects, most recently used first.
    public func accessAll() -> [Archive] { accessAll(limitedBy: .max) }

    /// Returns when the object with the same key was last recorded or accessed, or `nil` if there
    /// is none.
    public func latestAccessedTime(for object: Archive) -> Date? {
        latestAccessedTime(for: object.primaryKey)
    }

    /// Records the objects one after the other. ``ArchiveManager`` records them in one transaction.
    public func insert(all objects: [Archive]) {
        for object in objects { record(object) }
    }

    /// Records the objects, as ``insert(all:)`` does.
    public func insert(_ objects: Archive...) { insert(all: objects) }

    /// Records the objects, as ``insert(all:)`` does.
    public func update(_ objects: Archive...) { insert(all: objects) }

    /// Records the objects, as ``insert(all:)`` does.
    public func update(all objects: [Archive]) { insert(all: objects) }

    /// Deletes the objects with the keys one after the other. ``ArchiveManager`` deletes them in
    /// one transaction.
    public func delete(allKeys keys: [String]) {
        for key in keys { delete(archiveWithKey: key) }
    }

    /// Deletes the objects with the keys, as ``delete(allKeys:)`` does.
    public func delete(keys: String...) { delete(allKeys: keys) }

    /// Deletes the object with the same key, if there is one.
    public func delete(_ object: Archive) { delete(archiveWithKey: object.primaryKey) }

    /// Deletes the objects with the same keys, as ``delete(allKeys:)`` does.
    public func delete(_ objects: Archive...) { delete(all: objects) }

    /// Deletes the objects with the same keys, as ``delete(allKeys:)`` does.
    public func delete(all objects: [Archive]) {
        delete(allKeys: objects.map(\.primaryKey))
    }
}
