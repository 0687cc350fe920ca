internal import Dispatch
public import VellumCore

/// The state of a store that its archive calls back.
///
/// Separate from the store, because the archive calls inside its lock, where the last reference to a store must not be released: its
/// `deinit` calls the archive.
@usableFromInline
final class StoreState<Value>: DiskArchiveDelegate {
    private let memory: MemoryCache<CachedForm<Value>>
    private let codec: any Codec<Value>
    private let catalog: IndexCatalog<Value>?
    @usableFromInline let events = EventHub<StoreEvent>()
    @usableFromInline let counters = Locked(Counters())
    /// Entries that could not be decoded.
    let undecodable = UndecodableEntries()

    @usableFromInline
    struct Counters: Sendable {
        @usableFromInline var diskHits = 0
        @usableFromInline var misses = 0
        var memoryEvictions = 0
        var failures = 0
        var removals: [RemovalCause: Int] = [:]
    }

    init(memory: MemoryCache<CachedForm<Value>>, codec: any Codec<Value>, catalog: IndexCatalog<Value>?) {
        self.memory = memory
        self.codec = codec
        self.catalog = catalog
    }

    @usableFromInline
    func lastUse(ofKey key: EntryKey, entryID: Int64) -> UseStamp? { memory.lastUse(ofKey: key, entryID: entryID) }

    @usableFromInline
    func raiseStamp(to stamp: UseStamp) { memory.raiseStamp(to: stamp) }

    @usableFromInline
    func takeTouches(limit: Int) -> [Touch] { memory.takeTouches(limit: limit) }

    @usableFromInline
    func finishTouches(written: Bool) { memory.finishTouches(written: written) }

    @usableFromInline
    func pendingTouches() -> [Touch] { memory.pendingTouches() }

    @usableFromInline
    var pendingTouchCount: Int { memory.pendingTouchCount }

    @usableFromInline
    func archiveDidReport(_ event: StoreEvent) {
        switch event {
        case .failure, .damagedEntry:
            counters.withLock { $0.failures += 1 }
            events.send(event)
        case .limitLowered(let change):
            counters.withLock { $0.removals[.limitLowered, default: 0] += change.removed.entries }
            events.keep(event)
        case .setAside, .onNetwork:
            events.keep(event)  // Happens while a store opens, before there can be an observer.
        case .recorded, .removed, .removedAll, .indexed, .migrated, .skippedUndecodable, .logHeldBack:
            events.send(event)
        }
    }

    @usableFromInline
    func archiveDidRemove(_ entries: [RemovedEntry], _ cause: RemovalCause) {
        let lost: [EntryKey]
        if cause.wasEvicted {
            lost = memory.markMemoryOnly(entries)
        } else {
            let effects = memory.remove(entries)
            DispatchQueue.global().async { withExtendedLifetime(effects) {} }
            lost = entries.map(\.key)
        }
        guard !lost.isEmpty else { return }
        counters.withLock { $0.removals[cause, default: 0] += lost.count }
        guard events.isObserved else { return }
        for key in lost { events.send(.removed(key: key.normalized, cause)) }
    }

    @usableFromInline
    func archiveDidLoseWrites(_ error: VellumError) {
        // The disk may be calling inside a lock, so the payloads are released on another thread.
        let effects = memory.removeAll()
        DispatchQueue.global().async { withExtendedLifetime(effects) {} }
        archiveDidReport(.failure(error))
    }

    // MARK: Versions

    /// Makes a value of an entry of another version, or of flags that nobody knows.
    func migration(of entry: Entry, _ key: EntryKey) throws(VellumError) -> Migration<Value> {
        guard entry.flags == 0 else { throw VellumError.newerEntry }
        do {
            return try codec.migrate(entry.bytes, from: entry.typeVersion, of: key)
        } catch {
            throw .undecodable(Value.self, version: entry.typeVersion, error)
        }
    }

    @usableFromInline
    func indexed(_ entry: Entry, of key: EntryKey) -> IndexedOutcome {
        do {
            guard entry.flags == 0, entry.typeVersion == codec.version else {
                return try migrated(try migration(of: entry, key), key)
            }
            guard let catalog else { return .noPlace }
            return catalog.values(of: try codec.decode(entry.bytes)).map(IndexedOutcome.values) ?? .noPlace
        } catch {
            let failure = VellumError.undecodable(Value.self, version: entry.typeVersion, error)
            undecodable.insert(entry)
            archiveDidReport(.damagedEntry(key: key.normalized, failure))
            return .undecodable
        }
    }

    private func migrated(_ migration: Migration<Value>, _ key: EntryKey) throws -> IndexedOutcome {
        switch migration {
        case .removed: return .removed
        case .value(let value):
            let new = MigratedEntry(
                key: codec.key(of: value) ?? key, bytes: try codec.encode(value), version: codec.version(of: value),
                indexed: catalog?.values(of: value))
            return .migrated(new)
        }
    }

    /// Tells observers how many objects a query went past, and logs it once.
    func report(skipped: Int, _ located: (VellumError) -> VellumError) {
        guard skipped > 0 else { return }
        archiveDidReport(.skippedUndecodable(count: skipped))
        guard undecodable.isFirstReport() else { return }
        Log.notice("\(located(.skipped(skipped, Value.self)))")
    }
}

extension VellumError {
    fileprivate static func skipped(_ count: Int, _ type: Any.Type) -> VellumError {
        VellumError(
            .notDecodable,
            """
            A query went past \(count) objects that cannot be decoded as \(type). If the type has changed, conform it to VersionedArchive and \
            migrate them. Later queries that do so are not logged.
            """)
    }
}
