public import Foundation
public import VellumCore

/// Values in memory over the same values on disk: the engine.
///
/// ```swift
/// let store = Store(
///     disk: tier, codec: CodableCodec<User>(), memory: try Capacity(1.megaByte), caching: .values)
/// try store.record(User(name: "Ann"), forKey: "ann")
/// let ann = try store.value(forKey: "ann").value
/// ```
///
/// A write goes down once: one encode, the disk, then memory. A read comes up once: memory, else the disk, one
/// decode, and a place in memory if nothing newer was written meanwhile. The files `Store+Read`, `+Write` and
/// `+Maintenance` follow those ways.
///
/// Works from any thread, also where `Value` is not `Sendable`: then memory keeps bytes, and every reader gets a value
/// of its own. No codec, `deinit` or closure of a caller runs under a lock.
@usableFromInline package final class Store<Value>: Sendable {
    @usableFromInline let memory: MemoryCache<CachedForm<Value>>
    @usableFromInline let disk: DiskArchive
    @usableFromInline let codec: any Codec<Value>
    @usableFromInline let clock: WallClock
    @usableFromInline let forkGuard = ForkGuard()
    /// What is indexed of the values, if anything.
    @usableFromInline let catalog: IndexCatalog<Value>?
    private let policy: Locked<CachePolicy<Value>>
    @usableFromInline let owner: StoreState<Value>
    /// The loads that are running.
    let loads = LoadCoordinator<EntryKey, LoadAnswer<Value>>()
    /// Answers of loaders that are no values.
    let negativeCache = Locked(NegativeCache())
    /// For how many milliseconds past their ends entries are still of use, by what their readers take for their ends.
    let staleWindows = Locked<[Expiration: Int64]>([:])

    /// What an acknowledged write survives.
    @usableFromInline package let durability: Durability
    /// What happens, for whoever listens.
    @inlinable
    package var events: EventHub<StoreEvent> { owner.events }

    /// A store over a tier of its own.
    ///
    /// - Parameters:
    ///   - disk: The tier that outlives the process. One store owns it.
    ///   - codec: Turns values into bytes and back, on the threads of the callers.
    ///   - memory: What memory may hold.
    ///   - caching: Whether memory keeps values or bytes; `.values` exists for `Sendable` types.
    ///   - catalog: What is indexed of the values. The tier must have been told so, too.
    ///   - durability: What an acknowledged write survives.
    ///   - clock: Where ages and instants come from.
    @usableFromInline package init(
        disk: DiskArchive,
        codec: any Codec<Value>,
        memory: Capacity,
        caching policy: CachePolicy<Value> = .bytes,
        indexing catalog: IndexCatalog<Value>? = nil,
        durability: Durability = .crashSafe,
        clock: WallClock = .system
    ) {
        self.memory = MemoryCache(capacity: memory, following: disk.changes)
        let catalog = catalog.flatMap { $0.isEmpty ? nil : $0 }
        self.catalog = catalog
        owner = StoreState(memory: self.memory, codec: codec, catalog: catalog)
        self.disk = disk
        self.codec = codec
        self.policy = Locked(policy)
        self.durability = durability
        self.clock = clock
        disk.attach(to: owner)
    }

    deinit {
        // Nobody will ask for them once the owner is gone. Not taken: the disk may be taking some at this moment, and is the only taker.
        let uses = memory.pendingTouches().sorted { $0.row < $1.row }
        for start in stride(from: 0, to: uses.count, by: 4096) { disk.record(uses: Array(uses[start..<min(start + 4096, uses.count)])) }
        // Released here and not with the owner, whom the disk may be asking inside a lock of its own.
        _ = memory.removeAll()
        events.finish()
    }

    /// The error with the names of this archive and its file.
    @usableFromInline
    package func located(_ error: VellumError) -> VellumError {
        error.located(archive: Log.displayed(disk.name), path: disk.file.path)
    }

    /// The present moment, by the store's clock.
    @usableFromInline package var now: Date { clock.now().date }

    /// Whether memory keeps values.
    @usableFromInline var keepsValues: Bool { policy.withLock { $0.keepsValues } }

    /// Changes what memory and the disk may hold, and what memory keeps from now on. What is over a limit leaves now.
    ///
    /// - Parameter disk: `nil` for what it may hold already.
    @usableFromInline package func reconfigure(memory: Capacity, disk: Capacity?, caching: CachePolicy<Value>) throws(VellumError) {
        if let disk { try resize(disk: disk) }
        release(self.memory.setCapacity(memory))
        policy.withLock { $0 = caching }
    }

    private func resize(disk capacity: Capacity) throws(VellumError) {
        let (before, held) = (disk.capacity, try disk.totals())
        let evicted = try disk.resize(to: capacity)
        let lost = memory.markMemoryOnly(evicted)
        guard capacity.bytes < before.bytes else { return didRemove(lost, .evicted) }
        let left = try disk.totals()
        owner.archiveDidReport(
            .limitLowered(
                LimitChange(
                    from: DataSize(bytes: before.bytes), to: DataSize(bytes: capacity.bytes),
                    removed: StorageUsage(entries: lost.count, bytes: max(0, held.bytes - left.bytes)))))
        guard events.isObserved else { return }
        for key in lost { events.send(.removed(key: key.normalized, .limitLowered)) }
    }

    /// Lets memory hold more.
    @usableFromInline package func raise(memory capacity: Capacity) { release(memory.setCapacity(capacity, onlyRaising: true)) }

    /// Lets the disk hold no less. The size counts as one that was given.
    @usableFromInline package func raise(disk capacity: Capacity) throws(VellumError) { try disk.raise(to: capacity) }

    /// What memory and the disk may hold, asked anew where another process may have changed it.
    @usableFromInline package func currentCapacities() throws(VellumError) -> (memory: Capacity, disk: Capacity) {
        (memory.capacity, try disk.currentCapacity())
    }

    /// What memory and the disk may hold, as far as this process knows.
    @inlinable
    package var capacities: (memory: Capacity, disk: Capacity) { (memory.capacity, disk.capacity) }
}
