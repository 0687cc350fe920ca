import Foundation
import Testing
@testable import VellumCore
@testable import VellumEngine
import VellumTestSupport

/// A store of strings over tiers in memory, with everything in between at hand.
struct LoadingSetup: Sendable {
    let clock = ManualClock()
    let disk: DiskArchive
    let faults: ArchiveFaults
    let codec = CountingCodec<String>(JSONCodec<String>())
    let store: Store<String>

    init(memory: DataSize = 1.megaByte, disk limit: DataSize = 1.megaByte) throws {
        let folder = try TemporaryDirectory()
        faults = ArchiveFaults(in: folder)
        disk = try DatabaseFile.open(at: folder.file("Archives.sqlite"), clock: clock.wallClock)
            .archive(named: "archive", capacity: Capacity(limit), interceptedBy: faults)
        store = Store(
            disk: disk, codec: codec, memory: try Capacity(memory), caching: .values, clock: clock.wallClock)
        // What expires stays in the file: nothing here may depend on when it is swept.
        try store.setRetention(.never, staleWindow: .seconds(86_400))
    }

    /// Waits until so many tasks wait for a load.
    func waiters(_ count: Int) async {
        while store.loads.waiterCount != count { await Task.yield() }
    }

    /// Waits until nothing is being loaded.
    func landing() async {
        while store.loads.count != 0 { await Task.yield() }
    }
}

/// A source that answers when it is told to, and counts how often it was asked.
final class Source: Sendable {
    private struct State {
        var asked = 0
        var cancelled = 0
        var open: [CheckedContinuation<String, any Error>] = []
        var arrivals: [(Int, CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())

    var asked: Int { state.withLock { $0.asked } }
    var cancelled: Int { state.withLock { $0.cancelled } }

    /// Waits for ``answer(_:)``, or until it is cancelled.
    func load() async throws -> String {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let heard = state.withLock { state -> [CheckedContinuation<Void, Never>] in
                    state.asked += 1
                    state.open.append(continuation)
                    let heard = state.arrivals.filter { $0.0 <= state.asked }.map(\.1)
                    state.arrivals.removeAll { $0.0 <= state.asked }
                    return heard
                }
                for listener in heard { listener.resume() }
            }
        } onCancel: {
            state.withLock { $0.cancelled += 1 }
            answer(.failure(CancellationError()))
        }
    }

    /// Like ``load()``, but deaf to being cancelled.
    func loadStubbornly() async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            let heard = state.withLock { state -> [CheckedContinuation<Void, Never>] in
                state.asked += 1
                state.open.append(continuation)
                let heard = state.arrivals.filter { $0.0 <= state.asked }.map(\.1)
                state.arrivals.removeAll { $0.0 <= state.asked }
                return heard
            }
            for listener in heard { listener.resume() }
        }
    }

    /// Returns when the source was asked so many times.
    func wasAsked(_ count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.asked < count { state.arrivals.append((count, continuation)) }
                return state.asked >= count
            }
            if isOver { continuation.resume() }
        }
    }

    /// Answers everyone who asked.
    func answer(_ result: Result<String, any Error>) {
        let open = state.withLock { state in
            defer { state.open = [] }
            return state.open
        }
        for continuation in open { continuation.resume(with: result) }
    }

    func answer(_ value: String) { answer(.success(value)) }
}

struct Outage: Error, Equatable {}

/// Counts.
final class Counter: Sendable {
    private let count = Locked(0)

    var value: Int { count.withLock { $0 } }

    @discardableResult
    func increment() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}

/// Loading as the faces do it.
extension Store where Value: Sendable {
    func value(
        forKey key: EntryKey, under expiration: Expiration = .never, staleWhileRevalidate: Duration = .zero, staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(), orLoad load: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let stale = (staleWhileRevalidate, staleIfError)
        let answer = try await loading(key, expiration, stale, options, takesNothing: false, load)
        return try #require(answer.value)
    }

    @_disfavoredOverload
    func value(
        forKey key: EntryKey, under expiration: Expiration = .never, staleWhileRevalidate: Duration = .zero, staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(), orLoad load: @escaping @Sendable () async throws -> Value?
    ) async throws -> Value? {
        try await loading(key, expiration, (staleWhileRevalidate, staleIfError), options, takesNothing: true, load).value
    }

    func load(
        _ key: EntryKey, under expiration: Expiration = .never, staleWhileRevalidate: Duration = .zero, staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(), orLoad load: @escaping @Sendable () async throws -> Value
    ) async throws -> Loaded<Value> {
        let stale = (staleWhileRevalidate, staleIfError)
        let answer = try await loading(key, expiration, stale, options, takesNothing: false, load)
        return Loaded(try #require(answer.value), answer.source)
    }

    @_disfavoredOverload
    func load(
        _ key: EntryKey, under expiration: Expiration = .never, staleWhileRevalidate: Duration = .zero, staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(), orLoad load: @escaping @Sendable () async throws -> Value?
    ) async throws -> Loaded<Value?> {
        try await loading(key, expiration, (staleWhileRevalidate, staleIfError), options, takesNothing: true, load)
    }

    private func loading(
        _ key: EntryKey, _ expiration: Expiration, _ stale: (Duration, Duration), _ options: LoadOptions, takesNothing: Bool,
        _ load: @escaping @Sendable () async throws -> Value?
    ) async throws -> Loaded<Value?> {
        let isStaleTaken = stale.0 != .zero || stale.1 != .zero
        let staleness = try Staleness(whileRevalidate: stale.0, ifError: stale.1)
        var request = try LoadRequest<Value>(key: key, under: expiration, staleness: staleness, options: options, load: load)
        request.takesNothing = takesNothing
        if !isStaleTaken, let value = try hit(forKey: key, under: expiration) { return Loaded(value, .cached) }
        return try await self.load(request, hasLooked: !isStaleTaken)
    }
}
