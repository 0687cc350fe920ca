public import Foundation
public import VellumCore
internal import VellumEngine

/// Something that records objects and gives them back: the verbs of ``ArchiveManager``.
///
/// Nothing here throws. What fails is told as the conforming type says, and answered with `nil` or nothing.
public protocol Archivist<Archive> {
    associatedtype Archive: Archivable

    /// How many bytes may be held.
    var maxSize: DataSize { get }
    /// How many bytes are held.
    var currentSize: DataSize { get }

    /// When the object with the key was last recorded or accessed.
    func latestAccessedTime(for key: String) -> Date?
    /// Deletes every object that was last recorded or accessed longer ago than the interval.
    func deleteAllInvalidateArchives(invalidateTimeInterval: TimeInterval)

    /// Records the object under its key, over what is there.
    func record(_ object: Archive)
    /// Records the object, whether or not there is one under its key.
    func update(_ object: Archive)
    /// The object under the key.
    func access(archiveWithKey key: String) -> Archive?
    /// All objects, most recently used first.
    func accessAll() -> [Archive]
    /// The objects used last, most recently used first.
    func accessAll(limitedBy limit: Int) -> [Archive]
    /// Carries out the steps of a query, one after the other.
    func process(queries: [Query<Archive>]) -> [Archive]
    /// Deletes the object under the key.
    func delete(archiveWithKey key: String)
    /// Deletes every object.
    func deleteAll()

    /// Records all the objects.
    func insert(all objects: [Archive])
    /// Deletes what is under the keys.
    func delete(allKeys keys: [String])
}

extension Archivist {
    public func update(_ object: Archive) { record(object) }

    public func accessAll() -> [Archive] { accessAll(limitedBy: .max) }

    /// When the object with the same key was last recorded or accessed.
    public func latestAccessedTime(for object: Archive) -> Date? { latestAccessedTime(for: object.primaryKey) }

    public func insert(all objects: [Archive]) {
        for object in objects { record(object) }
    }

    public func insert(_ objects: Archive...) { insert(all: objects) }

    public func update(_ objects: Archive...) { insert(all: objects) }

    public func update(all objects: [Archive]) { insert(all: objects) }

    public func delete(allKeys keys: [String]) {
        for key in keys { delete(archiveWithKey: key) }
    }

    public func delete(keys: String...) { delete(allKeys: keys) }

    public func delete(_ object: Archive) { delete(archiveWithKey: object.primaryKey) }

    public func delete(_ objects: Archive...) { delete(all: objects) }

    public func delete(all objects: [Archive]) { delete(allKeys: objects.map(\.primaryKey)) }
}
