internal import Dispatch

/// What the disk asks about a store, and tells it.
///
/// Apart from the store itself, because the disk asks inside its own lock, and the last reference to a store must not be
/// let go of there: its `deinit` calls the disk.
@usableFromInline
final class StoreOwner<Value>: TierOwner {
    private let memory: MemoryTier<Remembered<Value>>
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

    init(memory: MemoryTier<Remembered<Value>>, codec: any Codec<Value>, catalog: IndexCatalog<Value>?) {
        self.memory = memory
        self.codec = codec
        self.catalog = catalog
    }

    @usableFromInline
    func latestUse(ofKey key: EntryKey, row: Int64) -> UseStamp? { memory.latestUse(ofKey: key, row: row) }

    @usableFromInline
    func uses(areLaterThan stamp: UseStamp) { memory.raiseStamp(to: stamp) }

    @usableFromInline
    func takeUses(limit: Int) -> [Use] { memory.takeUses(limit: limit) }

    @usableFromInline
    func finishUses(written: Bool) { memory.finishUses(written: written) }

    @usableFromInline
    func pendingUses() -> [Use] { memory.pendingUses() }

    @usableFromInline
    var untakenUseCount: Int { memory.untakenUseCount }

    @usableFromInline
    func tierDidReport(_ event: StoreEvent) {
        switch event {
        case .failure, .damagedEntry:
            counters.withLock { $0.failures += 1 }
            events.send(event)
        case .limitLowered(let change):
            counters.withLock { $0.removals[.limitLowered, default: 0] += change.removed.entries }
            events.keep(event)
        case .setAside, .onNetwork:
            events.keep(event)  // It happens while a store opens, before anyone can listen.
        case .recorded, .removed, .removedAll, .indexed, .logHeldBack:
            events.send(event)
        }
    }

    @usableFromInline
    func tierDidRemove(_ entries: [RemovedEntry], _ cause: RemovalCause) {
        let lost: [EntryKey]
        if cause.wasEvicted {
            lost = memory.markAlone(entries)
        } else {
            let leftovers = memory.remove(entries)
            DispatchQueue.global().async { withExtendedLifetime(leftovers) {} }
            lost = entries.map(\.key)
        }
        guard !lost.isEmpty else { return }
        counters.withLock { $0.removals[cause, default: 0] += lost.count }
        guard events.isObserved else { return }
        for key in lost { events.send(.removed(key, cause)) }
    }

    @usableFromInline
    func tierDidLoseWrites(_ error: StoreError) {
        // The disk may be calling inside a lock of its own: what memory held is released elsewhere.
        let leftovers = memory.removeAll()
        DispatchQueue.global().async { withExtendedLifetime(leftovers) {} }
        tierDidReport(.failure(error))
    }

    @usableFromInline
    func indexed(_ entry: Entry, of key: EntryKey) -> IndexedOutcome {
        guard let catalog else { return .noPlace }
        do {
            return catalog.values(of: try codec.decode(entry.bytes)).map(IndexedOutcome.values) ?? .noPlace
        } catch {
            tierDidReport(.damagedEntry(key, .undecodable(Value.self, error)))
            return .undecodable
        }
    }
}
