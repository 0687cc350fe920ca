extension ErasableStorage {
    /// The storage whose calls are answered one after another, in the order in which they were made: for a storage of your own that
    /// is not safe on several threads.
    ///
    /// A call is begun when the one before it was answered. One that waits blocks its thread until its turn.
    public func synchronizedCalls() -> AnyStorage<Access, ErasedKey, ErasedValue> {
        let line = Line(layer: storageName)
        return erased().transforming { verbs in
            StorageVerbs(
                retrieve: { key, call in line.run(call) { verbs.retrieve(key, $0) } },
                set: { value, key, call in line.run(call) { verbs.set(value, key, $0) } },
                remove: { key, call in line.run(call) { verbs.remove(key, $0) } },
                removeAll: { call in line.run(call) { verbs.removeAll($0) } },
                turn: verbs.turn)
        }
    }
}

/// Calls that take turns, all of them.
private final class Line: Sendable {
    private let turns = Turns()
    private let layer: String

    init(layer: String) {
        self.layer = layer
    }

    func run<Value: Sendable>(_ call: Call, _ work: @escaping @Sendable (Call) -> Reply<Value>) -> Reply<Value> {
        turns.run(Turn(of: self, ()), layer: layer, call, work)
    }
}
