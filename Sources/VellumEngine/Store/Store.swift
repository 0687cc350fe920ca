public import Foundation
public import Synchronization
public import VellumCore

/// A cache of values in memory over an archive of the same values on disk (decision 42).
///
/// ```swift
/// let store = Store(
///     disk: archive,
///     codec: CodableCodec<User>(),
///     memory: try Capacity(1.megaByte),
///     caching: .values)
/// try store.record(User(name: "Ann"), forKey: "ann")
/// let ann = try store.value(forKey: "ann")
/// ```
///
/// A write encodes once, writes the disk, then memory. A read looks in memory, then on the disk
/// with one decode, and then stores the value in memory unless a newer one was written in the
/// meantime. See `Store+Read`, `Store+Write` and `Store+Maintenance`.
///
/// Safe on any thread, even if `Value` is not `Sendable`: memory then keeps bytes, and every reader
/// gets its own value. No codec, `deinit` or closure of a caller runs under a lock.
@usableFromInline package final class Store<Value>: MemoryHolder {
    @usableFromInline let memory: MemoryCache<MemoryPayload<Value>>
    @usableFromInline let disk: DiskArchive
    @usableFromInline package let codec: any Codec<Value>
    /// The version of the type that is read and written.
    @usableFromInline let version: Int64
    @usableFromInline let clock: WallClock
    @usableFromInline let forkGuard = ForkGuard()
    /// The declared index of the values; `nil` if there is none.
    @usableFromInline let catalog: IndexCatalog<Value>?
    /// Its columns.
    let columns: IndexColumns
    @usableFromInline let keepsValuesNow: Atomic<Bool>
    @usableFromInline let state: StoreState<Value>
    /// The loads that are running.
    let loads = LoadCoordinator<EntryKey, LoadOutcome<Value>>()
    /// Failures of loaders, and `nil` results, that are remembered.
    let answers: RememberedAnswers
    /// How many milliseconds after their expiry entries may still be requested, by the expiration
    /// of their readers.
    let staleWindows = Locked<[Expiration: Int64]>([:])

    /// What an acknowledged write survives.
    @usableFromInline package let durability: Durability
    /// The events of the store.
    @inlinable
    package var events: EventHub<StoreEvent> { state.events }

    /// Where calls of the store are carried out that are awaited.
    package var lanes: FileLanes { disk.file.writing.lanes }

    /// Reports an event to observers.
    package func report(_ event: StoreEvent) { state.archiveDidReport(event) }

    /// Creates a store over an archive.
    ///
    /// - Parameters:
    ///   - disk: The archive on disk. Only one store may own it.
    ///   - codec: Encodes and decodes values, on the threads of the callers.
    ///   - memory: The limit of memory.
    ///   - options: What memory keeps, the index of the values, which the archive must have
    ///     declared, and the durability.
    ///   - clock: The source of the time.
    package init(
        disk: DiskArchive,
        codec: any Codec<Value>,
        memory: Capacity,
        _ options: StoreOptions<Value>,
        clock: WallClock = .system
    ) {
        self.memory = MemoryCache(capacity: disk.allowed(memory), following: disk.changes)
        answers = RememberedAnswers(watching: self.memory, now: clock.now)
        let catalog = options.indexing.flatMap { $0.isEmpty ? nil : $0 }
        self.catalog = catalog
        columns = catalog?.columns ?? IndexColumns()
        state = StoreState(memory: self.memory, codec: codec, catalog: catalog)
        self.disk = disk
        self.codec = codec
        version = codec.version
        keepsValuesNow = Atomic(options.caching.keepsValues)
        durability = options.durability
        self.clock = clock
        disk.attach(to: state)
        sampleUses()
        MemoryHolders.shared.insert(self)
    }

    deinit {
        // A lock may have been held by another thread at the fork.
        guard forkGuard.isThisProcess else { return }
        // No touches can be taken once the state is gone. They are not taken here, because the disk
        // may be taking some now and must be the only taker.
        let touches = memory.pendingTouches().sorted { $0.entryID < $1.entryID }
        for start in stride(from: 0, to: touches.count, by: 4096) {
            let some = touches[start..<min(start + 4096, touches.count)]
            disk.file.write(Array(some), of: disk.archive)
        }
        disk.file.remove(disk.archive)
        // Released here and not with the state, which the disk may be calling inside a lock.
        _ = memory.removeAll()
        events.finish()
    }

    /// The name of the archive in its file.
    package var name: String { disk.name }

    /// Whether the archive was opened with another version of its cache since.
    package var isReplaced: Bool { disk.archive.isReplaced }

    /// Returns the error with the names of this archive and its file.
    @usableFromInline
    package func located(_ error: VellumError) -> VellumError {
        error.located(archive: Log.displayed(disk.name), path: disk.file.path)
    }

    /// The current time of the store's clock.
    @usableFromInline package var now: Date { clock.now().date }

    /// Whether memory keeps values.
    @inlinable var keepsValues: Bool { keepsValuesNow.load(ordering: .relaxed) }

    /// Changes the limits of memory and the disk, and what memory keeps from now on. Evicts what
    /// exceeds a limit.
    ///
    /// - Parameter disk: The limit of the disk; `nil` leaves it unchanged.
    @usableFromInline package func reconfigure(
        memory: Capacity,
        disk: Capacity?,
        caching: CachePolicy<Value>
    ) throws(VellumError) {
        if let disk { try resize(disk: disk) }
        resize(memory: memory)
        keepsValuesNow.store(caching.keepsValues, ordering: .relaxed)
    }

    /// Changes the limit of memory, and evicts what exceeds it.
    func resize(memory capacity: Capacity) {
        release(memory.setCapacity(disk.allowed(capacity)))
        sampleUses()
    }

    /// Changes the limit of the disk, and evicts what exceeds it.
    func resize(disk capacity: Capacity) throws(VellumError) {
        let before = disk.capacity
        let held = try disk.totals()
        let evicted = try disk.resize(to: capacity)
        sampleUses()
        var effects = MemoryCache<MemoryPayload<Value>>.DeferredEffects()
        let lost = memory.markMemoryOnly(evicted, &effects)
        release(effects)
        guard capacity.bytes < before.bytes else { return didRemove(lost, .evicted) }
        let left = try disk.totals()
        state.archiveDidReport(
            .limitLowered(
                LimitChange(
                    from: DataSize(bytes: before.bytes),
                    to: DataSize(bytes: capacity.bytes),
                    removed: StorageUsage(
                        entries: lost.count,
                        bytes: max(0, held.bytes - left.bytes)
                    )
                )
            )
        )
        guard events.isObserved else { return }
        for key in lost { events.send(.removed(key: key.normalized, .limitLowered)) }
    }

    /// Raises the limit of memory.
    @usableFromInline package func raise(memory capacity: Capacity) {
        release(memory.setCapacity(disk.allowed(capacity), onlyRaising: true))
        sampleUses()
    }

    /// Raises the limit of the disk, which then counts as set by a caller.
    @usableFromInline package func raise(disk capacity: Capacity) throws(VellumError) {
        try disk.raise(to: capacity)
        sampleUses()
    }

    /// Returns the limits of memory and the disk. Reads the file, because another process may have
    /// changed them.
    @usableFromInline package func currentCapacities() throws(VellumError) -> (
        memory: Capacity, disk: Capacity
    ) {
        (memory.capacity, try disk.currentCapacity())
    }

    /// The limits of memory and the disk that this process knows of.
    @inlinable
    package var capacities: (memory: Capacity, disk: Capacity) { (memory.capacity, disk.capacity) }
}

// MARK: For a test kit

extension Store {
    /// The file and the archive of the store.
    package var fileAndArchive: (file: DatabaseFile, archive: Archive) { (disk.file, disk.archive) }

    /// How many callers wait for loads.
    package var waitingCallers: Int { loads.waiterCount }
}

extension Store: OpenableStore {
    var valueType: Any.Type { Value.self }
    var runningLoads: [UInt64] { loads.running }

    func holds(version: String?) -> Bool {
        !disk.archive.isReplaced
            && (version == nil
                || version.map { EntryKey($0).normalized } == disk.archive.cacheVersion)
    }
}

extension VellumError {
    package static let cacheVersionChanged = VellumError(
        .cacheVersionChanged,
        """
        The cache was opened with another version, which removed its values. This handle finds \
        nothing and stores nothing. Request the cache from its manager again, with the version \
        that is used now.
        """
    )
}
