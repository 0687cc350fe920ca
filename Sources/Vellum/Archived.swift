public import VellumCore
internal import VellumEngine

/// A property whose value is recorded when it is assigned and loaded when it is first read.
///
/// ```swift
/// @Archived var user: User?
/// @Archived(initialPrimaryKey: "some") var user: User?
/// ```
///
/// Assigning an object records it in the archive of its type. Assigning `nil` deletes the object that was last recorded or loaded
/// through the property. Failures are logged and sent to ``ArchiveManager/failures``; the next read retries a load that failed.
///
/// The archive is opened at the first read or assignment. An assignment and the first read block for the disk. A copy of the property has
/// its own value.
@propertyWrapper
public struct Archived<Value: Archivable> {
    private let archives: () throws -> ArchiveManager<Value>
    private var state: State

    /// The loaded value. Copies share it until one of them is assigned.
    private final class State {
        var key: String?
        var value: Value?
        var isLoaded: Bool
        /// The archive, after it was opened.
        var manager: ArchiveManager<Value>?

        init(key: String?, value: Value?, isLoaded: Bool, manager: ArchiveManager<Value>? = nil) {
            self.key = key
            self.value = value
            self.isLoaded = isLoaded
            self.manager = manager
        }
    }

    /// Creates a property that is `nil` until it is assigned, or whose value is the object with a key. Opens nothing.
    ///
    /// - Parameters:
    ///   - initialPrimaryKey: The key of the object to load at the first read.
    ///   - memoryLimit: The limit of memory, in bytes of encoded objects. `nil`: the limit of the open archive, or the default.
    ///   - diskLimit: The limit of the disk, in bytes of encoded objects. `nil`: the limit stored in the archive, or the default. A smaller
    ///     limit than that of an open archive is reported and ignored.
    ///   - factory: The factory of the archive.
    public init(
        initialPrimaryKey: String? = nil, memoryLimit: DataSize? = nil, diskLimit: DataSize? = nil, in factory: ArchivesFactory = .shared
    ) {
        archives = { try factory.archives(for: Value.self, trySetMaxMemorySize: memoryLimit, trySetMaxDiskSize: diskLimit) }
        state = State(key: initialPrimaryKey, value: nil, isLoaded: initialPrimaryKey == nil)
    }

    /// Creates a property that is `nil` until it is assigned, or whose value is the object with a key. Opens nothing.
    ///
    /// Memory keeps decoded values, unless the type is a class.
    ///
    /// - Parameters:
    ///   - initialPrimaryKey: The key of the object to load at the first read.
    ///   - memoryLimit: The limit of memory, in bytes of encoded objects. `nil`: the limit of the open archive, or the default.
    ///   - diskLimit: The limit of the disk, in bytes of encoded objects. `nil`: the limit stored in the archive, or the default. A smaller
    ///     limit than that of an open archive is reported and ignored.
    ///   - factory: The factory of the archive.
    public init(
        initialPrimaryKey: String? = nil, memoryLimit: DataSize? = nil, diskLimit: DataSize? = nil, in factory: ArchivesFactory = .shared
    ) where Value: Sendable {
        archives = { try factory.archives(for: Value.self, trySetMaxMemorySize: memoryLimit, trySetMaxDiskSize: diskLimit) }
        state = State(key: initialPrimaryKey, value: nil, isLoaded: initialPrimaryKey == nil)
    }

    /// The object, or `nil`. The first read loads it; an assignment records it, or deletes it if the new value is `nil`.
    public var wrappedValue: Value? {
        get {
            if !state.isLoaded, let key = state.key { load(key) }
            return state.value
        }
        set {
            let key = newValue?.primaryKey
            if let newValue {
                manager?.record(newValue)
            } else if let recorded = state.key {
                manager?.delete(archiveWithKey: recorded)
            }
            state = State(key: key, value: newValue, isLoaded: true, manager: state.manager)
        }
    }

    private func load(_ key: String) {
        guard let manager else { return }
        do {
            state.value = try manager.store.access(archiveWithKey: key)
            state.isLoaded = true
        } catch {
            manager.report(error, "Archived")
        }
    }

    private var manager: ArchiveManager<Value>? {
        if let manager = state.manager, manager.store.isOpen { return manager }
        do {
            let manager = try archives()
            state.manager = manager
            return manager
        } catch {
            Report.unopened(error, Value.self)
            return nil
        }
    }
}
