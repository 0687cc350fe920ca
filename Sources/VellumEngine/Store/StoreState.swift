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
        case .recorded, .removed, .removedAll, .indexed, .logHeldBack:
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

    @usableFromInline
    func indexed(_ entry: Entry, of key: EntryKey) -> IndexedOutcome {
        guard let catalog else { return .noPlace }
        do {
            guard entry.flags == 0 else { throw VellumError.newerEntry }
            return catalog.values(of: try codec.decode(entry.bytes)).map(IndexedOutcome.values) ?? .noPlace
        } catch {
            archiveDidReport(.damagedEntry(key: key.normalized, .undecodable(Value.self, error)))
            return .undecodable
        }
    }
}
