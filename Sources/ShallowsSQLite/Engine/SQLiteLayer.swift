internal import Shallows
internal import VellumCore
internal import VellumEngine

/// The operations of a storage on a file.
///
/// The first call opens the file. Everything that may block runs in the queue that all storages on
/// the file share.
final class SQLiteLayer<Value: Codable & Sendable>: Sendable {
    let name: String
    let configuration: SQLiteConfiguration
    private let expiration: Expiration?
    private let file: SharedFile
    private let state = Locked(State.unopened)

    private enum State: Sendable {
        case unopened
        case open(OpenFile<Value>)
        case closed
    }

    init(_ configuration: SQLiteConfiguration) {
        name = configuration.storageName
        self.configuration = configuration
        expiration =
            configuration.options.expiration == .never ? nil : configuration.options.expiration
        file = SharedFile.shared(for: configuration.url)
    }

    /// Where closures of the storage run that are awaited.
    var visits: Lane.Share { file.visits }

    var operations: StorageOperations<Filename, Value> {
        let operations = StorageOperations(
            retrieve: { key, call in self.retrieve(key, call) },
            set: { value, key, call in
                self.write(key, call) { (store, entry) throws(VellumError) in
                    try store.record(value, forKey: entry, expiration: self.expiration)
                }
            },
            remove: { key, call in
                self.write(key, call) { (store, entry) throws(VellumError) in
                    _ = try store.remove(entry)
                }
            },
            removeAll: { call in
                self.file.write(nil, call) {
                    self.run(call) { store throws(VellumError) in try store.removeAll() }
                }
            },
            lockKey: { LockKey(of: self.file, $0) }
        )
        return StorageOperations(operations) { key, call in self.retrieveForUpdate(key, call) }
    }

    private func retrieveForUpdate(_ key: Filename, _ call: Call) -> Reply<UpdatableValue<Value>> {
        let entry = EntryKey(key.rawValue)
        return file.queue.run(layer: name, key: key, call) { [self] in
            let found = answer(key) { store throws(VellumError) in
                try store.valueForUpdate(forKey: entry)
            }
            return found.flatMap { found in
                guard let value = found.value else {
                    return .failure(.miss(forKey: key, layer: name))
                }
                return .success(
                    UpdatableValue(value) { new, call in self.set(new, key, call, over: found) }
                )
            }
        }
    }

    private func set(
        _ value: Value,
        _ key: Filename,
        _ call: Call,
        over found: Store<Value>.FoundForWriting
    ) -> Reply<Bool> {
        write(key, call) { (store, entry) throws(VellumError) in
            try store.record(value, forKey: entry, expiration: self.expiration, over: found)
        }
    }

    private func retrieve(_ key: Filename, _ call: Call) -> Reply<Value> {
        let entry = EntryKey(key.rawValue)
        if let outcome = inMemory(entry, key) { return .now(outcome) }
        return file.queue.run(layer: name, key: key, call) { [self] in
            answer(key) {
                (store) throws(VellumError) in try store.value(forKey: entry)
            }.flatMap {
                found in
                found.map(Result.success) ?? .failure(.miss(forKey: key, layer: name))
            }
        }
    }

    /// The value in memory, unless a write that has started may change it. Does not block.
    private func inMemory(_ entry: EntryKey, _ key: Filename) -> Outcome<Value>? {
        guard case .open(let open) = state.withLock({ $0 }),
            !file.isWriting(entry)
        else {
            return nil
        }
        do throws(VellumError) {
            return try open.store.valueInMemory(
                forKey: entry,
                configuration.options.clock.now(),
                .never
            ).map(Result.success)
        } catch {
            return .failure(ShallowsError(error, layer: name, key: key))
        }
    }

    private func write<Result: Sendable>(
        _ key: Filename,
        _ call: Call,
        _ body: @escaping @Sendable (Store<Value>, EntryKey) throws(VellumError) -> Result
    ) -> Reply<Result> {
        let entry = EntryKey(key.rawValue)
        return file.write(entry, call) {
            run(call, of: key) { store throws(VellumError) in try body(store, entry) }
        }
    }

    /// Runs `body` with the store, in its turn.
    func run<Result: Sendable>(
        _ call: Call,
        of key: Filename? = nil,
        _ body: @escaping @Sendable (Store<Value>) throws(VellumError) -> Result
    ) -> Reply<Result> {
        file.queue.run(layer: name, key: key, call) { [self] in
            answer(key, body)
        }
    }

    /// The result of `body`, with the storage's own error. Blocks for the disk.
    private func answer<Result>(
        _ key: Filename?,
        _ body: (Store<Value>) throws(VellumError) -> Result
    ) -> Outcome<Result> {
        outcome(key) { () throws(VellumError) in try body(try store()) }
    }

    private func outcome<Result>(
        _ key: Filename? = nil,
        _ body: () throws(VellumError) -> Result
    ) -> Outcome<Result> {
        do throws(VellumError) {
            return .success(try body())
        } catch {
            return .failure(ShallowsError(error, layer: name, key: key))
        }
    }

    /// Runs `body`, which concerns all keys, in its turn.
    private func inTurn(
        _ call: Call,
        _ body: @escaping @Sendable () throws(VellumError) -> Void
    ) -> Reply<Void> {
        file.write(nil, call) {
            file.queue.run(layer: name, call) { [self] in outcome(nil, body) }
        }
    }

    // MARK: Opening and closing

    /// The store. Opens it if it is not open.
    private func store() throws(VellumError) -> Store<Value> {
        switch state.withLock({ $0 }) {
        case .open(let open): return open.store
        case .closed: throw .closedStorage
        case .unopened: break
        }
        let open: OpenFile<Value> = try configuration.open()
        // A call that opened it concurrently got the same store.
        let isOpen = state.withLock { state in
            if case .unopened = state { state = .open(open) }
            return if case .open = state { true } else { false }
        }
        guard isOpen else { throw .closedStorage }
        return open.store
    }

    func close(_ call: Call) -> Reply<Void> {
        inTurn(call) { [self] () throws(VellumError) in
            // Retained until the lock is released, so that nothing is deinitialized inside it.
            let before = state.withLock { $0 }
            // If this fails, closing can be tried again.
            if case .open(let open) = before { try open.close() }
            state.withLock { $0 = .closed }
        }
    }

    /// Runs `body` with the file, in its turn, if the storage has opened it.
    func onOpenFile(
        _ call: Call,
        _ body: @escaping @Sendable (DatabaseFile) throws(VellumError) -> Void
    ) -> Reply<Void> {
        inTurn(call) { [self] () throws(VellumError) in
            if case .open(let open) = state.withLock({ $0 }) {
                try body(open.file)
            }
        }
    }
}

extension ShallowsError {
    /// A failure of the engine: its code, its message, and itself as the cause.
    init(_ error: VellumError, layer: String, key: Filename? = nil) {
        self.init(error.code, error.located, layer: layer, key: key, cause: error)
    }
}

extension VellumError {
    fileprivate static let closedStorage = VellumError(
        .closed,
        "The storage was closed. Make another for the same file."
    )
}
