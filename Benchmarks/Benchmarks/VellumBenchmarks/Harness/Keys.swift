import Samples

/// A sequence of keys. Each turn takes the next ones, so that none profits from processor caches
/// that another filled.
final class Keys<Key: Sendable> {
    typealias AwaitedWork = nonisolated(nonsending) @Sendable (ArraySlice<Key>) async throws -> Void

    /// The number of keys of a turn, for operations too short to be timed one by one.
    static var batch: Int { 1000 }

    private let all: [Key]
    private var start = 0

    init(_ all: [Key]) { self.all = all }

    /// Work on a batch of keys, and on some more one by one.
    @inline(__always)
    func turn(_ work: @escaping (ArraySlice<Key>) throws -> Void) -> Turn {
        Turn { [self] in
            try work(next(Self.batch))
        } tail: { [self] in
            try (0..<50).map { _ in
                let key = next(1)
                return Double(try Stopwatch.time { try work(key) }.nanoseconds)
            }
        }
    }

    /// The same for asynchronous work.
    @inline(__always)
    func turn(inTask work: @escaping AwaitedWork) -> Turn {
        func awaiting(_ keys: ArraySlice<Key>) -> Stopwatch.AwaitedWork { { try await work(keys) } }
        return Turn.inTask { [self] in
            awaiting(next(Self.batch))
        } tail: { [self] in
            try (0..<50).map { _ in
                Double(try Stopwatch.time(inTask: awaiting(next(1))).nanoseconds)
            }
        }
    }

    private func next(_ count: Int) -> ArraySlice<Key> {
        if start + count > all.count { start = 0 }
        defer { start += count }
        return all[start..<start + count]
    }
}
