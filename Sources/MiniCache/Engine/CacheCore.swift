public import VellumCore
internal import VellumEngine

/// What all handles on one cache share: its engine, and what went wrong.
@usableFromInline
final class CacheCore: Sendable {
    let place: CachePlace
    let failures = EventHub<MiniCacheError>()
    /// What values become on the disk.
    var format: CodableFormat { file.format }
    private let file: CacheFile
    private let state = Locked(State())

    private struct State {
        var hold: StoreHold<CachedValue>?
        /// The limits that the handles asked for, if any did.
        var memory: Capacity?
        var disk: Capacity?
        var isRelaying = false
        /// Whether the manager was closed.
        var isEnded = false
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

    init(_ place: CachePlace, memory: Capacity?, disk: Capacity?, in file: CacheFile) {
        self.place = place
        self.file = file
        state.withLock { ($0.memory, $0.disk) = (memory, disk) }
    }

    /// What memory and the disk may hold, or will be asked to hold once the file can be opened.
    var limits: (memory: Capacity, disk: Capacity) {
        if let opened { return opened.capacities }
        return state.withLock { ($0.memory ?? CacheFile.defaults.memory, $0.disk ?? CacheFile.defaults.disk) }
    }

    /// Another handle asks for limits: what can be granted is, and the rest is reported.
    func ask(memory: Capacity?, disk: Capacity?) {
        guard memory != nil || disk != nil else { return }
        guard opened != nil else {
            return state.withLock { state in
                if let memory, memory.isAtLeast(state.memory ?? memory) { state.memory = memory }
                if let disk, disk.isAtLeast(state.disk ?? disk) { state.disk = disk }
            }
        }
        do throws(StoreError) {
            _ = try file.openEngine(place, memory: memory, disk: disk)
        } catch {
            Report.failure(MiniCacheError(error), verb: "cache")
            failures.send(MiniCacheError(error))
        }
    }

    /// The engine, which is told that a handle takes values for so long. Opens it if it is not open yet, and tries again if it could
    /// not be before.
    func store(claiming expiration: Expiration) throws(StoreError) -> Store<CachedValue> {
        let store = try store()
        guard state.withLock({ $0.claimed.insert(expiration).inserted }) else { return store }
        do throws(StoreError) {
            try store.setRetention(expiration)
        } catch {
            // Values may then leave sooner than this handle would have them; they are found while they are there.
            Report.failure(MiniCacheError(error), verb: "cache")
            failures.send(MiniCacheError(error))
        }
        return store
    }

    private func store() throws(StoreError) -> Store<CachedValue> {
        if let hold = hold {
            guard !hold.mark.isClosed else { throw .closed }
            return hold.store
        }
        // Callers that ask at the same time get the same store.
        let (memory, disk, isEnded) = state.withLock { ($0.memory, $0.disk, $0.isEnded) }
        guard !isEnded else { throw .closed }
        let new = try file.openEngine(place, memory: memory, disk: disk)
        let (hold, isObserved) = state.withLock { state -> (StoreHold<CachedValue>?, Bool) in
            // The manager may have been closed meanwhile.
            if !state.isEnded { state.hold = state.hold ?? new }
            return (state.hold, failures.isObserved)
        }
        guard let hold else { throw .closed }
        if isObserved { relay() }
        return hold.store
    }

    private var hold: StoreHold<CachedValue>? { state.withLock { $0.hold } }

    var opened: Store<CachedValue>? { hold?.store }

    /// Whether the caches of this core were closed; `nil` before it was opened.
    var mark: ClosedMark? { hold?.mark }

    /// Whether the engine was open and is not any more.
    var isClosed: Bool { state.withLock { $0.isEnded } || hold.map { $0.mark.isClosed || $0.store.isClosed } ?? false }

    func close() throws(StoreError) {
        let hold = state.withLock { state in
            state.isEnded = true
            return state.hold
        }
        try hold?.close()
    }

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
        let store = state.withLock { state -> Store<CachedValue>? in
            guard !state.isRelaying, let store = state.hold?.store else { return nil }
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
                case .damagedEntry, .recorded, .removed, .removedAll, .indexed, .limitLowered, .logHeldBack: continue
                }
            }
        }
    }

    deinit { failures.finish() }
}
