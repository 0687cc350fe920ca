internal import Synchronization
public import VellumCore

/// The state of a store that its archive calls back.
///
/// Separate from the store, because the archive calls inside its lock, where the last reference to
/// a store must not be released: its `deinit` calls the archive.
@usableFromInline
final class StoreState<Value>: ArchiveOwner {
    private let memory: MemoryCache<MemoryPayload<Value>>
    private let codec: any Codec<Value>
    private let catalog: IndexCatalog<Value>?
    @usableFromInline var mayHaveMemoryOnly: Bool {
        memory.mayHaveMemoryOnly.load(ordering: .relaxed)
    }
    @usableFromInline let events = EventHub<StoreEvent>()
    @usableFromInline let counters = Locked(Counters())
    /// Entries that could not be decoded.
    @usableFromInline let undecodable = UndecodableEntries()
    private let warnings = Locked<Set<Int>>([])

    @usableFromInline
    struct Counters: Sendable {
        @usableFromInline var diskHits = 0
        @usableFromInline var misses = 0
        var memoryEvictions = 0
        var failures = 0
        var removals: [RemovalCause: Int] = [:]
    }

    init(
        memory: MemoryCache<MemoryPayload<Value>>,
        codec: any Codec<Value>,
        catalog: IndexCatalog<Value>?
    ) {
        self.memory = memory
        self.codec = codec
        self.catalog = catalog
    }

    @usableFromInline
    func lastUse(ofKey key: EntryKey, entryID: Int64) -> UseStamp? {
        memory.lastUse(ofKey: key, entryID: entryID)
    }

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
    func sizing(ofDisk bytes: Int) -> Sizing? {
        let limit = memory.capacity.bytes
        return memory.sizing(
            memory: limit == .max ? memory.totals().bytes : limit,
            disk: bytes
        )
    }

    @usableFromInline
    func archiveDidReport(_ event: StoreEvent) {
        switch event {
        case .failure, .damagedEntry:
            counters.withLock { $0.failures += 1 }
            events.send(event)
        case .limitLowered(let change):
            counters.withLock { $0.removals[.limitLowered, default: 0] += change.removed.entries }
            events.keep(event)
        case .setAside, .onNetwork, .imported, .versionReplaced:
            events.keep(event)  // Happens while a store opens, before there can be an observer.
        case .recorded, .removed, .removedAll, .indexed, .migrated, .skippedUndecodable,
            .logHeldBack:
            events.send(event)
        }
    }

    @usableFromInline
    func archiveDidRemove(_ entries: [RemovedEntry], _ cause: RemovalCause) {
        var effects = MemoryCache<MemoryPayload<Value>>.DeferredEffects()
        let lost: [EntryKey]
        if cause.wasEvicted {
            lost = memory.markMemoryOnly(entries, &effects)
        } else {
            // A load of one of them is overtaken.
            if cause == .explicit { memory.recordRemoval(of: entries.lazy.map(\.key)) }
            effects = memory.remove(entries, keepingUses: cause == .migrated)
            lost = entries.map(\.key)
        }
        if !effects.payloads.isEmpty {
            Lane.visits.start { [effects] in withExtendedLifetime(effects) {} }
        }
        guard !lost.isEmpty else { return }
        counters.withLock { $0.removals[cause, default: 0] += lost.count }
        // A migration may remove the key of every object: its progress has their number.
        guard events.isObserved, cause != .migrated else { return }
        for key in lost { events.send(.removed(key: key.normalized, cause)) }
    }

    @usableFromInline
    func archiveDidLoseWrites(_ error: VellumError) {
        // The disk may be calling inside a lock, so the payloads are released on another thread.
        let effects = memory.removeAll()
        Lane.visits.start { withExtendedLifetime(effects) {} }
        archiveDidReport(.failure(error))
    }

    @usableFromInline
    func archiveWasReplaced() {
        // Also fills that began before find that something was written meanwhile.
        let effects = memory.removeAll(isWrite: true)
        Lane.visits.start { withExtendedLifetime(effects) {} }
    }

    /// Whether a query need not try to decode the entry again.
    func isKnownUndecodable(_ entry: Entry) -> Bool {
        undecodable.contains(entry, isObserved: events.isObserved)
    }

    /// - Returns: Whether it is the first time.
    @discardableResult
    func rememberUndecodable(_ entry: Entry) -> Bool {
        undecodable.insert(entry, isObserved: events.isObserved)
    }

    /// Whether this is the first call with the property.
    func isFirstWarning(of property: AnyKeyPath) -> Bool {
        let hash = property.hashValue
        return warnings.withLock { $0.insert(hash).inserted }
    }

    // MARK: Versions

    /// Decodes an entry of any version.
    func value(of entry: Entry, _ key: EntryKey) throws(VellumError) -> Migration<Value> {
        guard entry.typeVersion == codec.version else { return try migration(of: entry, key) }
        do {
            return .value(try codec.decode(entry.bytes))
        } catch {
            throw .undecodable(Value.self, version: entry.typeVersion, error)
        }
    }

    /// Makes a value of an entry of another version.
    func migration(of entry: Entry, _ key: EntryKey) throws(VellumError) -> Migration<Value> {
        do {
            return try codec.migrate(entry.bytes, from: entry.typeVersion, of: key)
        } catch {
            throw .undecodable(Value.self, version: entry.typeVersion, error)
        }
    }

    @usableFromInline
    func indexed(_ entry: Entry, of key: EntryKey) -> IndexedOutcome {
        let isCurrent = entry.typeVersion == codec.version
        if isCurrent, catalog == nil { return .noPlace }
        do throws(VellumError) {
            switch try value(of: entry, key) {
            case .removed: return .removed
            case .value(let value):
                let values = catalog?.values(of: value)
                guard isCurrent else { return migrated(value, values, key) }
                return values.map(IndexedOutcome.values) ?? .noPlace
            }
        } catch {
            rememberUndecodable(entry)
            archiveDidReport(.damagedEntry(key: key.normalized, error))
            return .undecodable
        }
    }

    /// An entry that cannot be written in its new form stays as it is, and is migrated whenever it
    /// is read.
    private func migrated(
        _ value: Value,
        _ values: IndexedValues?,
        _ oldKey: EntryKey
    ) -> IndexedOutcome {
        let key = codec.key(of: value) ?? oldKey
        do {
            try key.checkLength()
            let bytes = try codec.encode(value)
            return .migrated(
                MigratedEntry(
                    key: key,
                    bytes: bytes,
                    version: codec.version(of: value),
                    indexed: values
                )
            )
        } catch {
            archiveDidReport(.failure(error as? VellumError ?? .notEncodable(Value.self, error)))
            return .noPlace
        }
    }

    /// Tells observers how many objects a query skipped, and logs it once.
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
            A query skipped \(count) objects that cannot be decoded as \(type). If the type has \
            changed, conform it to VersionedArchive and migrate them. Later queries that skip some \
            are not logged.
            """
        )
    }
}
