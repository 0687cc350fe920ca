public import VellumCore
internal import VellumEngine

/// A property whose value is recorded when it is assigned, and loaded when it is first read.
///
/// ```swift
/// @Archived var user: User?
/// @Archived(initialPrimaryKey: "some") var user: User?
/// ```
///
/// Assigning an object records it in the archive of its type; assigning `nil` deletes what was last recorded or loaded
/// through the property. What fails is reported as ``ArchiveManager`` does; a load that failed is tried again by the
/// next read. Reading blocks for the disk the first time. Copies of the property are values of their own.
@propertyWrapper
public struct Archived<Value: Archivable> {
    private let archives: () throws -> ArchiveManager<Value>
    private var state: State

    /// What was loaded, shared by copies until one is assigned.
    private final class State {
        var key: String?
        var value: Value?
        var isLoaded: Bool
        /// The archive, once it could be opened.
        var manager: ArchiveManager<Value>?

        init(key: String?, value: Value?, isLoaded: Bool, manager: ArchiveManager<Value>? = nil) {
            self.key = key
            self.value = value
            self.isLoaded = isLoaded
            self.manager = manager
        }
    }

    /// A property that is `nil` until it is assigned, or holds the object with the key.
    ///
    /// - Parameters:
    ///   - initialPrimaryKey: The key of the object to load at the first read.
    ///   - memoryLimit: How many bytes of encoded objects memory may hold; `nil` for what is open, or the default.
    ///   - diskLimit: How many bytes of encoded objects the disk may hold; `nil` for what the archive has, or the default. A smaller one
    ///     than an open archive has is reported and does not count.
    ///   - factory: Whose archive of the type it is.
    public init(
        initialPrimaryKey: String? = nil, memoryLimit: DataSize? = nil, diskLimit: DataSize? = nil, in factory: ArchivesFactory = .shared
    ) {
        archives = { try factory.archives(for: Value.self, trySetMaxMemorySize: memoryLimit, trySetMaxDiskSize: diskLimit) }
        state = State(key: initialPrimaryKey, value: nil, isLoaded: initialPrimaryKey == nil)
    }

    /// The same; memory keeps values, where the type is no class.
    public init(
        initialPrimaryKey: String? = nil, memoryLimit: DataSize? = nil, diskLimit: DataSize? = nil, in factory: ArchivesFactory = .shared
    ) where Value: Sendable {
        archives = { try factory.archives(for: Value.self, trySetMaxMemorySize: memoryLimit, trySetMaxDiskSize: diskLimit) }
        state = State(key: initialPrimaryKey, value: nil, isLoaded: initialPrimaryKey == nil)
    }

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
