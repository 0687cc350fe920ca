internal import Shallows
internal import VellumCore
internal import VellumEngine

/// What a storage on a file does, as layers of compositions ask it.
///
/// Opened by whatever is asked first. Everything that may block goes through the lane that all storages on the file share.
final class SQLiteLayer<Value: Codable & Sendable>: Sendable {
    let name: String
    let place: SQLitePlace
    private let expiration: Expiration?
    private let queue: FileQueue
    private let state = Locked(State.unopened)

    private enum State: Sendable {
        case unopened
        case open(OpenFile<Value>)
        case closed
    }

    init(_ place: SQLitePlace, _ expiration: Expiration) {
        name = place.storageName
        self.place = place
        self.expiration = expiration == .never ? nil : expiration
        queue = FileQueue.shared(for: place.url)
    }

    var verbs: StorageVerbs<Filename, Value> {
        StorageVerbs(
            retrieve: { key, call in self.retrieve(key, call) },
            set: { value, key, call in
                self.write(key, call) { (store, entry) throws(StoreError) in
                    try store.record(value, forKey: entry, expiration: self.expiration)
                }
            },
            remove: { key, call in
                self.write(key, call) { (store, entry) throws(StoreError) in _ = try store.remove(entry) }
            },
            removeAll: { call in
                self.queue.write(nil, call) { self.whole(call) { (store) throws(StoreError) in try store.removeAll() } }
            },
            turn: { Turn(of: self.queue, $0) })
    }

    private func retrieve(_ key: Filename, _ call: Call) -> Reply<Value> {
        let entry = EntryKey(key.rawValue)
        if let outcome = atHand(entry, key) { return .now(outcome) }
        return queue.lane.run(layer: name, key: key, call) { [self] in
            answer(key) { (store) throws(StoreError) in try store.value(forKey: entry) }.flatMap { found in
                found.map(Result.success) ?? .failure(.miss(forKey: key, layer: name))
            }
        }
    }

    /// The value that memory has, where nothing that was asked for may change it. Blocks for nothing.
    private func atHand(_ entry: EntryKey, _ key: Filename) -> Outcome<Value>? {
        guard case .open(let open) = state.withLock({ $0 }), !queue.isWriting(entry) else { return nil }
        do throws(StoreError) {
            return try open.store.valueInMemory(forKey: entry, place.clock.now(), .never).map(Result.success)
        } catch {
            return .failure(ShallowsError(error, layer: name, key: key))
        }
    }

    private func write(
        _ key: Filename, _ call: Call, _ body: @escaping @Sendable (Store<Value>, EntryKey) throws(StoreError) -> Void
    ) -> Reply<Void> {
        let entry = EntryKey(key.rawValue)
        return queue.write(entry, call) { run(key, call) { (store) throws(StoreError) in try body(store, entry) } }
    }

    /// Does something with the whole store, in its turn.
    func whole<Result: Sendable>(
        _ call: Call, _ body: @escaping @Sendable (Store<Value>) throws(StoreError) -> Result
    ) -> Reply<Result> {
        run(nil, call, body)
    }

    private func run<Result: Sendable>(
        _ key: Filename?, _ call: Call, _ body: @escaping @Sendable (Store<Value>) throws(StoreError) -> Result
    ) -> Reply<Result> {
        queue.lane.run(layer: name, key: key, call) { [self] in answer(key, body) }
    }

    /// What the store says, told in the words of a storage. Blocks for the disk.
    private func answer<Result>(_ key: Filename?, _ body: (Store<Value>) throws(StoreError) -> Result) -> Outcome<Result> {
        do throws(StoreError) {
            return .success(try body(try store()))
        } catch {
            return .failure(ShallowsError(error, layer: name, key: key))
        }
    }

    // MARK: Opening and closing

    /// The store, which is opened if it is not open yet.
    private func store() throws(StoreError) -> Store<Value> {
        switch state.withLock({ $0 }) {
        case .open(let open): return open.store
        case .closed: throw .closedStorage
        case .unopened: break
        }
        let open: OpenFile<Value> = try place.open()
        // Whoever opened it at the same time was given the same store.
        let isOpen = state.withLock { state in
            if case .unopened = state { state = .open(open) }
            return if case .open = state { true } else { false }
        }
        guard isOpen else { throw .closedStorage }
        return open.store
    }

    func close(_ call: Call) -> Reply<Void> {
        queue.write(nil, call) { closeInTurn(call) }
    }

    /// Does something with the file, in its turn, if the storage has opened it.
    func onOpenFile(_ call: Call, _ body: @escaping @Sendable (DatabaseFile) throws(StoreError) -> Void) -> Reply<Void> {
        queue.write(nil, call) {
            self.queue.lane.run(layer: self.name, call) { [self] in
                guard case .open(let open) = state.withLock({ $0 }) else { return .success(()) }
                do throws(StoreError) {
                    return .success(try body(open.file))
                } catch {
                    return .failure(ShallowsError(error, layer: name))
                }
            }
        }
    }

    private func closeInTurn(_ call: Call) -> Reply<Void> {
        queue.lane.run(layer: name, call) { [self] in
            do throws(StoreError) {
                // Held while the lock is, so that nothing is let go of inside it.
                let before = state.withLock { $0 }
                if case .open(let open) = before { try open.close() }
                state.withLock { $0 = .closed }
                return .success(())
            } catch {
                // What could not be closed can be closed again.
                return .failure(ShallowsError(error, layer: name))
            }
        }
    }
}

extension ShallowsError {
    /// A failure of the engine: its code, its words, and itself as the cause.
    init(_ error: StoreError, layer: String, key: Filename? = nil) {
        self.init(error.code, error.message, layer: layer, key: key, cause: error)
    }
}

extension StoreError {
    fileprivate static let closedStorage = StoreError(.closed, "The storage was closed. Make another for the same file.")
}
