internal import Foundation
public import VellumCore
internal import VellumEngine

/// Which cache of a file a handle is for: its name and its version. Each name is an archive, which
/// holds one version.
@usableFromInline
struct CacheLocation: Hashable, Sendable {
    let name: String
    let version: String
}

/// The state that all handles on one cache share: its store, its limits and its failures.
@usableFromInline
final class CacheCore: Sendable {
    let location: CacheLocation
    let failures = EventHub<MiniCacheError>()
    /// The format of new values.
    var format: CodableFormat { file.format }
    private let file: CacheFile
    var path: String { file.url.path }
    /// Where the cache is opened for calls that are awaited.
    let lanes = FileLanes()
    private let state = Locked(State())

    private struct State {
        var hold: StoreHold<CachedValue>?
        /// The limits that handles asked for.
        var memory: Capacity?
        var disk: Capacity?
        var isForwardingEvents = false
        var isClosed = false
        /// Whether the cache was opened before. Opening it again, because its file has vanished,
        /// must not remove another version's values.
        var wasOpened = false
        /// The ages of handles, and those that the store does not know of yet.
        var expirations: Set<Expiration> = []
        var newExpirations: Set<Expiration> = []
        /// How long expired values are kept: the longest that a handle has asked for.
        var staleWindow = Duration.zero
        /// The types of keys for which the entries of the original MiniCache were imported.
        var keyTypes: Set<ObjectIdentifier> = []
        var reported = ReportedEntries()
        var failureRuns = FailureRuns()
    }

    init(_ location: CacheLocation, memory: Capacity?, disk: Capacity?, in file: CacheFile) {
        self.location = location
        self.file = file
        state.withLock {
            $0.memory = memory
            $0.disk = disk
        }
    }

    // MARK: Limits

    /// The limits of memory and disk, or those that will be requested when the file can be opened.
    var limits: (memory: Capacity, disk: Capacity) {
        if let opened { return opened.capacities }
        return state.withLock {
            ($0.memory ?? CacheFile.defaults.memory, $0.disk ?? CacheFile.defaults.disk)
        }
    }

    /// Applies the limits of another handle as far as possible, and reports the rest.
    func requestLimits(memory: Capacity?, disk: Capacity?) {
        guard memory != nil || disk != nil else { return }
        guard let opened, !opened.isClosed else {
            return state.withLock { state in
                if let memory, memory.isAtLeast(state.memory ?? memory) { state.memory = memory }
                if let disk, disk.isAtLeast(state.disk ?? disk) { state.disk = disk }
            }
        }
        reportingFailure { () throws(VellumError) in
            _ = try file.openStore(location, memory: memory, disk: disk, mayReplaceVersion: false)
        }
    }

    // MARK: Opening and closing

    /// Returns a hold on the store, opened if necessary and prepared for a handle with this age and
    /// this type of keys.
    func hold<Key: Codable>(
        for expiration: Expiration,
        keyedBy type: Key.Type
    ) throws(VellumError) -> StoreHold<CachedValue> {
        let hold = try openHold()
        let store = hold.store
        let (new, window, isNewKeyType) = state.withLock { state in
            if state.expirations.insert(expiration).inserted {
                state.newExpirations.insert(expiration)
            }
            return (
                exchange(&state.newExpirations, with: []), state.staleWindow,
                !state.keyTypes.contains(ObjectIdentifier(type))
            )
        }
        for expiration in new {
            // If this fails, values may be removed earlier than this handle would; until then they
            // are found.
            reportingFailure { () throws(VellumError) in
                try store.setRetention(expiration, staleWindow: window)
            }
        }
        if isNewKeyType {
            // If this fails, the cache works without what is not imported yet, and the next call
            // tries it again.
            reportingFailure { () throws(VellumError) in
                try file.importOriginal(location, keyedBy: type, into: store)
                state.withLock { _ = $0.keyTypes.insert(ObjectIdentifier(type)) }
            }
        }
        return hold
    }

    /// Keeps expired values for so long, for every handle, from the next ``hold(for:keyedBy:)`` on.
    /// The longest duration counts.
    func keepExpired(for window: Duration) {
        state.withLock { state in
            guard window > state.staleWindow else { return }
            state.staleWindow = window
            state.newExpirations = state.expirations
        }
    }

    private func openHold() throws(VellumError) -> StoreHold<CachedValue> {
        let (old, memory, disk, isClosed, wasOpened) = state.withLock {
            ($0.hold, $0.memory, $0.disk, $0.isClosed, $0.wasOpened)
        }
        guard !isClosed else { throw Self.closed }
        if let old, !old.store.isClosed { return old }
        // Handles that read through the old hold notice here that its file has vanished.
        old?.mark.set(true)
        let new = try file.openStore(
            location,
            memory: memory,
            disk: disk,
            mayReplaceVersion: !wasOpened
        )
        let (hold, isObserved) = state.withLock { state -> (StoreHold<CachedValue>?, Bool) in
            // The manager may have been closed, or another thread may have been faster.
            if !state.isClosed, state.hold === old {
                state.hold = new
                state.wasOpened = true
                state.newExpirations = state.expirations
                state.keyTypes = []
                state.isForwardingEvents = false
            }
            return (state.isClosed ? nil : state.hold, failures.isObserved)
        }
        guard let hold else { throw Self.closed }
        log(state.withLock { $0.failureRuns.end(by: .opening) })
        if isObserved { forwardEvents() }
        return hold
    }

    private static var closed: VellumError {
        VellumError(
            .closed,
            "The cache or its manager was closed. Request the cache from a manager again."
        )
    }

    func removeAll(in store: Store<CachedValue>) throws(VellumError) {
        try file.removeAll(of: location.name, in: store)
    }

    private var hold: StoreHold<CachedValue>? { state.withLock { $0.hold } }

    /// The store, if it is open.
    var opened: Store<CachedValue>? { hold?.store }

    /// Whether the cache was opened with another version since. Its handles then find nothing and
    /// store nothing.
    var isReplaced: Bool { opened?.isReplaced ?? false }

    /// Finds out whether another process opened the cache with another version: then ``isReplaced``
    /// is true.
    func lookForReplacement() {
        do throws(VellumError) {
            _ = try opened?.count()
        } catch {
            // The next call has the error, if it is another one.
        }
    }

    /// Whether the manager closed it, so that it opens no store any more.
    var isClosedForGood: Bool { state.withLock { $0.isClosed } }

    /// Prepares for a handle that is requested anew: if the file has vanished, the next one may be
    /// emptied of another version.
    func willBeRequested() {
        state.withLock { state in
            if state.hold?.store.isClosed ?? false { state.wasOpened = false }
        }
    }

    /// Whether the store was open and is closed.
    var isClosed: Bool {
        state.withLock { $0.isClosed } || hold.map { $0.store.isClosed } ?? false
    }

    func close() throws(VellumError) {
        let hold = state.withLock { state in
            state.isClosed = true
            return state.hold
        }
        try hold?.close()
    }

    // MARK: Failures

    /// Logs a failure and sends it to observers.
    private func reportingFailure(_ body: () throws(VellumError) -> Void) {
        do throws(VellumError) {
            try body()
        } catch {
            log(error, "cache")
            failures.send(error)
        }
    }

    /// Logs a failure, unless it only continues others of the file.
    ///
    /// - Parameter type: The type of the values, if it is a failure of a handle.
    func log(_ error: MiniCacheError, _ operation: StaticString, _ type: Any.Type? = nil) {
        guard let count = state.withLock({ $0.failureRuns.add(error.code) }) else { return }
        Report.failure(error, count: count, operation: operation, type)
    }

    private func log(_ ended: [FailureRuns.Ended]) {
        for run in ended { Report.ended(located(run.notice)) }
    }

    /// Returns whether a failure of the entry has not been reported since it was last set.
    func shouldReport(_ key: EntryKey, _ type: Any.Type) -> Bool {
        state.withLock { $0.reported.insert(key, type) }
    }

    /// Makes the next failure of the entry a new one.
    @usableFromInline
    func didWrite(_ key: EntryKey) { state.withLock { $0.reported.remove(key) } }

    /// Like ``didWrite(_:)``, and ends the failures of a file that could not be written.
    func didStore(_ key: EntryKey) {
        let ended = state.withLock { state in
            state.reported.remove(key)
            return state.failureRuns.end(by: .writing)
        }
        log(ended)
    }

    func didRemoveAll() { state.withLock { $0.reported.removeAll() } }

    /// Returns the failures from now on, and those of opening the file.
    func stream() -> AsyncStream<MiniCacheError> {
        let stream = failures.events()
        forwardEvents()
        return stream
    }

    /// Forwards failures of the store that no caller sees, beginning with the first observer.
    private func forwardEvents() {
        let store = state.withLock { state -> Store<CachedValue>? in
            guard !state.isForwardingEvents, let store = state.hold?.store else { return nil }
            state.isForwardingEvents = true
            return store
        }
        guard let events = store?.events.events() else { return }
        let failures = failures
        // Ends with the store.
        Task {
            for await event in events {
                if let error = MiniCacheError(event) { failures.send(error) }
            }
        }
    }

    func groups(_ names: Set<String>) throws(VellumError) -> [EntryKey] {
        try locatingErrors { () throws(VellumError) in try EntryKey.groups(names) }
    }

    /// Runs `body`. An error of it names this cache and its file.
    func locatingErrors<Result>(
        _ body: () throws(VellumError) -> Result
    ) throws(VellumError) -> Result {
        do throws(VellumError) {
            return try body()
        } catch {
            throw located(error)
        }
    }

    @usableFromInline
    func located(_ error: VellumError) -> VellumError {
        error.located(archive: "\(location.name), version \(location.version)", path: path)
    }

    deinit { failures.finish() }
}

extension MiniCacheError {
    /// The failure that an event of the store means, if it means one that is not reported
    /// elsewhere.
    fileprivate init?(_ event: StoreEvent) {
        switch event {
        case .failure(let error): self = error
        case .setAside(_, let salvaged):
            self.init(
                .damagedFile,
                "The file was set aside for a new one; \(salvaged) entries of it were salvaged."
            )
        case .onNetwork: self = .onNetwork
        case .versionReplaced(let change):
            self.init(
                .cacheVersionChanged,
                """
                The cache was opened with another version than before. Values that were removed: \
                \(change.removed.entries).
                """
            )
        // Readers of a damaged entry report it.
        case .damagedEntry, .recorded, .removed, .removedAll, .indexed, .migrated, .imported,
            .skippedUndecodable, .limitLowered,
            .logHeldBack:
            return nil
        }
    }
}

/// The entries whose failure was reported, so that each is reported once until it is set again.
private struct ReportedEntries {
    /// The types as which each could not be decoded.
    private var types: [EntryKey: Set<ObjectIdentifier>] = [:]
    /// Beyond this many, all are forgotten, and failures may be reported again.
    private static let limit = 1024

    /// Returns whether the failure of the entry to be decoded as the type has not been reported
    /// yet.
    mutating func insert(_ key: EntryKey, _ type: Any.Type) -> Bool {
        if types.count >= Self.limit { types = [:] }
        return types[key, default: []].insert(ObjectIdentifier(type)).inserted
    }

    mutating func remove(_ key: EntryKey) { if !types.isEmpty { types[key] = nil } }

    mutating func removeAll() { types = [:] }
}
