public import VellumCore
internal import VellumEngine

/// A property whose value is recorded when it is assigned and loaded when it is first read.
///
/// ```swift
/// @Archived var user: User?
/// @Archived(initialPrimaryKey: "some") var user: User?
/// ```
///
/// Assigning an object records it in the archive of its type. Assigning `nil` deletes the object
/// that was last recorded or loaded through the property. Failures are logged and sent to
/// ``ArchiveManager/failures``; the next read retries a load that failed.
///
/// The archive is opened at the first read or assignment. An assignment and the first read block
/// for the disk. Assigning does not mutate the value that has the property: copies of a struct
/// share the object.
///
/// In an `@Observable` class, write `@ObservationIgnored @Archived var user: User?`, because the
/// macro cannot observe a property that has a wrapper. A view is then not updated when the property
/// changes.
@propertyWrapper
public final class Archived<Archive: Archivable> {
    private let open: () throws -> ArchiveManager<Archive>
    private let factory: ArchivesFactory
    /// The archive, after it was opened.
    private var opened: ArchiveManager<Archive>?
    /// The key of the object that was last recorded or loaded, or is to be loaded.
    private var key: String?
    private var value: Archive?
    private var isLoaded: Bool

    private init(
        initialPrimaryKey key: String?,
        in factory: ArchivesFactory,
        _ open: @escaping () throws -> ArchiveManager<Archive>
    ) {
        self.open = open
        self.factory = factory
        self.key = key
        isLoaded = key == nil
    }

    /// Creates a property that is `nil` until it is assigned, or whose value is the object with a
    /// key. Opens nothing.
    ///
    /// - Parameters:
    ///   - initialPrimaryKey: The key of the object to load at the first read.
    ///   - memoryLimit: The limit of memory, in bytes of encoded objects. `nil`: the limit of the
    ///     open archive, or the default.
    ///   - diskLimit: The limit of the disk, in bytes of encoded objects. `nil`: the limit stored
    ///     in the archive, or the default. Of each limit, the first that is given while the archive
    ///     is open decides; later ones are ignored.
    ///   - factory: The factory of the archive.
    public convenience init(
        initialPrimaryKey: String? = nil,
        memoryLimit: DataSize? = nil,
        diskLimit: DataSize? = nil,
        in factory: ArchivesFactory = .shared
    ) {
        self.init(initialPrimaryKey: initialPrimaryKey, in: factory) {
            ArchiveManager(try factory.makeStore(memoryLimit, diskLimit, nil, .bytes, .nonThrowing))
        }
    }

    /// Creates a property that is `nil` until it is assigned, or whose value is the object with a
    /// key. Opens nothing.
    ///
    /// Memory keeps decoded values, unless the type is a class.
    ///
    /// - Parameters:
    ///   - initialPrimaryKey: The key of the object to load at the first read.
    ///   - memoryLimit: The limit of memory, in bytes of encoded objects. `nil`: the limit of the
    ///     open archive, or the default.
    ///   - diskLimit: The limit of the disk, in bytes of encoded objects. `nil`: the limit stored
    ///     in the archive, or the default. Of each limit, the first that is given while the archive
    ///     is open decides; later ones are ignored.
    ///   - factory: The factory of the archive.
    public convenience init(
        initialPrimaryKey: String? = nil,
        memoryLimit: DataSize? = nil,
        diskLimit: DataSize? = nil,
        in factory: ArchivesFactory = .shared
    ) where Archive: Sendable {
        self.init(initialPrimaryKey: initialPrimaryKey, in: factory) {
            ArchiveManager(
                try factory.makeStore(memoryLimit, diskLimit, nil, .values, .nonThrowing)
            )
        }
    }

    /// The parameter is named `initialPrimaryKey`.
    @available(*, unavailable, renamed: "init(initialPrimaryKey:)")
    public convenience init(initialKey: String?) { self.init(initialPrimaryKey: initialKey) }

    /// Creates a property with a value, and records that in ``ArchivesFactory/shared``; `nil` opens
    /// nothing.
    ///
    /// ```swift
    /// @Archived var user: User? = User(userName: "ann")
    /// ```
    public convenience init(wrappedValue: Archive?) {
        self.init()
        if wrappedValue != nil { self.wrappedValue = wrappedValue }
    }

    /// Creates a property with a value, and records that in ``ArchivesFactory/shared``; `nil` opens
    /// nothing.
    ///
    /// Memory keeps decoded values, unless the type is a class.
    public convenience init(wrappedValue: Archive?) where Archive: Sendable {
        self.init()
        if wrappedValue != nil { self.wrappedValue = wrappedValue }
    }

    /// The object, or `nil`. The first read loads it; an assignment records it, or deletes it if
    /// the new value is `nil`.
    public var wrappedValue: Archive? {
        get {
            if !isLoaded, let key { load(key) }
            return value
        }
        set {
            if let newValue {
                manager?.record(newValue)
            } else if let key {
                manager?.delete(archiveWithKey: key)
            }
            key = newValue?.primaryKey
            value = newValue
            isLoaded = true
        }
    }

    private func load(_ key: String) {
        guard let manager else { return }
        do {
            value = try manager.store.access(archiveWithKey: key)
            isLoaded = true
        } catch {
            manager.report(error, "Archived")
        }
    }

    private var manager: ArchiveManager<Archive>? {
        if let opened, opened.store.isOpen { return opened }
        do {
            opened = try open()
        } catch {
            Report.unopened(error, Archive.self, in: factory.fileURL)
            opened = nil
        }
        return opened
    }
}
