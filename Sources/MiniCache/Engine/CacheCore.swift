public import Tiers

/// What all handles on one cache share: its engine, and what went wrong.
@usableFromInline
final class CacheCore: Sendable {
    let place: CachePlace
    let limits: (memory: Capacity, disk: Capacity)
    let failures = EventHub<MiniCacheError>()
    /// What values become on the disk.
    var format: CodableFormat { file.format }
    private let file: CacheFile
    private let state = Locked(State())

    private struct State {
        var store: TieredStore<CachedValue>?
        var isRelaying = false
        /// The ages of handles of which the engine was told.
        var claimed: Set<Expiration> = []
        /// Entries whose failure was told, so that it is told once.
        var told: Set<Telling> = []
    }

    private struct Telling: Hashable {
        var key: EntryKey
        var type: ObjectIdentifier
    }

    /// How many entries are remembered of which a failure was told.
    private static let mostTold = 1024

    init(_ place: CachePlace, memory: Capacity, disk: Capacity, in file: CacheFile) {
        self.place = place
        self.limits = (memory, disk)
        self.file = file
    }

    /// The engine, which is told that a handle takes values for so long. Opens it if it is not open yet, and tries again if it could
    /// not be before.
    func store(claiming expiration: Expiration) throws(StoreError) -> TieredStore<CachedValue> {
        let store = try store()
        guard state.withLock({ $0.claimed.insert(expiration).inserted }) else { return store }
        do throws(StoreError) {
            try store.claim(expiration)
        } catch {
            // Values may then leave sooner than this handle would have them; they are found while they are there.
            Report.failure(MiniCacheError(error), verb: "cache")
            failures.send(MiniCacheError(error))
        }
        return store
    }

    private func store() throws(StoreError) -> TieredStore<CachedValue> {
        if let store = opened { return store }
        // Who asks at the same time gets the same one.
        let store = try file.openEngine(place, memory: limits.memory, disk: limits.disk)
        let isObserved = state.withLock { state in
            state.store = state.store ?? store
            return failures.isObserved
        }
        if isObserved { relay() }
        return store
    }

    var opened: TieredStore<CachedValue>? { state.withLock { $0.store } }

    /// Whether the engine was open and its file is not any more.
    var isClosed: Bool { opened?.isClosed ?? false }

    /// Whether a failure concerning the entry has not been told since it was last set.
    func shouldTell(of key: EntryKey, _ type: Any.Type) -> Bool {
        state.withLock { state in
            if state.told.count >= Self.mostTold { state.told = [] }
            return state.told.insert(Telling(key: key, type: ObjectIdentifier(type))).inserted
        }
    }

    /// The entry was written: a failure concerning it is a new one.
    @usableFromInline
    func didWrite(_ key: EntryKey) {
        state.withLock { state in
            guard !state.told.isEmpty else { return }
            state.told = state.told.filter { $0.key != key }
        }
    }

    func forgetTellings() { state.withLock { $0.told = [] } }

    // MARK: Failures

    /// What fails from now on, and what happened to the file while it was opened.
    func stream() -> AsyncStream<MiniCacheError> {
        let stream = failures.events()
        relay()
        return stream
    }

    /// Passes on what happens behind the engine's callers' backs, from the first observer on.
    private func relay() {
        let store = state.withLock { state -> TieredStore<CachedValue>? in
            guard !state.isRelaying, let store = state.store else { return nil }
            state.isRelaying = true
            return store
        }
        guard let events = store?.events.events() else { return }
        let failures = failures
        // Ends with the engine.
        Task {
            for await event in events {
                switch event {
                case .failure(let error): failures.send(MiniCacheError(error))
                case .setAside(_, let salvaged):
                    failures.send(
                        MiniCacheError(.damagedFile, "The file was set aside for a new one; \(salvaged) entries of it were taken over."))
                case .onNetwork: failures.send(MiniCacheError(.onNetwork))
                // Whoever reads a damaged entry tells of it.
                case .damagedEntry, .recorded, .removed, .removedAll, .indexed: continue
                }
            }
        }
    }

    deinit { failures.finish() }
}
