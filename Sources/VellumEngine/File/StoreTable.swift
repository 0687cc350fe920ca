internal import VellumCore

/// A store of any type.
protocol OpenableStore: AnyObject, Sendable {
    var valueType: Any.Type { get }

    /// Whether the store is still of the archive's version, and of this one, if one is wanted.
    func holds(version: String?) -> Bool

    /// The numbers of the loads that are running. For tests.
    var runningLoads: [UInt64] { get }
}

/// The open stores by the names of their archives.
final class StoreTable: Sendable {
    /// Held while a store is opened, so that concurrent callers get the same one.
    let opening = Locked(())
    let table = Locked<[EntryKey: OpenStore]>([:])
    /// The archives for which a notice about ignored sizes was logged.
    private let noticed = Locked<Set<String>>([])

    // A class, because a weak existential in an optional struct is misread by the compiler of Swift
    // 6.3.
    final class OpenStore {
        weak var store: (any OpenableStore)?
        let id: ObjectIdentifier
        let archive: Archive
        /// The number of handles that hold the store.
        var holds = 0
        /// Whether a handle has ever held it.
        var wasHeld = false
        /// Whether anyone gave a size since it was opened.
        var isMemoryGiven = false
        var isDiskGiven = false

        init(_ store: any OpenableStore, _ archive: Archive) {
            self.store = store
            self.id = ObjectIdentifier(store)
            self.archive = archive
        }
    }

    func open(_ name: EntryKey) -> (any OpenableStore)? {
        table.withLock { $0[name]?.store }
    }

    func add(_ store: any OpenableStore, _ name: EntryKey, _ archive: Archive) {
        table.withLock { $0[name] = OpenStore(store, archive) }
    }

    /// Notes which sizes are given.
    ///
    /// - Returns: Those of them that are the first since the store was opened.
    func give(
        _ memory: Capacity?,
        _ disk: Capacity?,
        to store: any OpenableStore
    ) -> (memory: Capacity?, disk: Capacity?) {
        table.withLock { table in
            guard let open = Self.open(store, in: table) else { return (nil, nil) }
            defer {
                open.isMemoryGiven = open.isMemoryGiven || memory != nil
                open.isDiskGiven = open.isDiskGiven || disk != nil
            }
            return (open.isMemoryGiven ? nil : memory, open.isDiskGiven ? nil : disk)
        }
    }

    /// Notes that a size of the disk could not be applied.
    func takeBackDiskSize(of store: any OpenableStore) {
        table.withLock { Self.open(store, in: $0)?.isDiskGiven = false }
    }

    static func open(
        _ store: any OpenableStore,
        in table: [EntryKey: OpenStore]
    ) -> OpenStore? {
        table.values.first { $0.id == ObjectIdentifier(store) }
    }

    /// Whether nothing was logged yet about ignored sizes of the archive.
    func isFirstNotice(of name: String) -> Bool { noticed.withLock { $0.insert(name).inserted } }

    func remove(_ archive: Archive) {
        table.withLock { table in table = table.filter { $0.value.archive !== archive } }
    }
}
