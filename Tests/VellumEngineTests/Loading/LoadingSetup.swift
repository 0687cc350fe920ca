import Foundation
import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

/// A store of strings in a temporary file, with its clock, and its codec.
struct LoadingSetup: Sendable {
    let clock = ManualClock()
    let disk: DiskArchive
    let codec: CountingCodec<String>
    let store: Store<String>

    init(memory: DataSize = 1.megaByte, disk limit: DataSize = 1.megaByte) throws {
        let folder = try TemporaryDirectory()
        codec = CountingCodec(JSONCodec<String>(), in: folder)
        disk = try DatabaseFile.open(at: folder.file("Archives.sqlite"), clock: clock.wallClock)
            .archive(named: "archive", capacity: Capacity(limit))
        var options = StoreOptions<String>()
        options.caching = .values
        store = Store(
            disk: disk,
            codec: codec,
            memory: try Capacity(memory),
            options,
            clock: clock.wallClock
        )
        // Expired entries stay in the file, so that no test depends on when they are swept.
        try store.setRetention(.never, staleWindow: .seconds(86_400))
    }

    /// Waits until so many tasks wait for a load.
    func waitForWaiters(_ count: Int) async {
        await until("\(count) callers wait for loads") { store.loads.waiterCount == count }
    }

    /// Waits until no load is running.
    func waitUntilIdle() async {
        await until("no load is running") { store.loads.count == 0 }
    }
}

/// A loader whose results the test provides, and which counts its calls.
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
                let ready = state.withLock { state -> [CheckedContinuation<Void, Never>] in
                    state.asked += 1
                    state.open.append(continuation)
                    let ready = state.arrivals.filter { $0.0 <= state.asked }.map(\.1)
                    state.arrivals.removeAll { $0.0 <= state.asked }
                    return ready
                }
                for listener in ready { listener.resume() }
            }
        } onCancel: {
            state.withLock { $0.cancelled += 1 }
            answer(.failure(CancellationError()))
        }
    }

    /// Like ``load()``, but ignores cancellation.
    func loadIgnoringCancellation() async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            let ready = state.withLock { state -> [CheckedContinuation<Void, Never>] in
                state.asked += 1
                state.open.append(continuation)
                let ready = state.arrivals.filter { $0.0 <= state.asked }.map(\.1)
                state.arrivals.removeAll { $0.0 <= state.asked }
                return ready
            }
            for listener in ready { listener.resume() }
        }
    }

    /// Returns once the source was called so many times.
    func waitUntilCalled(_ count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.asked < count { state.arrivals.append((count, continuation)) }
                return state.asked >= count
            }
            if isOver { continuation.resume() }
        }
    }

    /// Answers every pending call.
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

/// A counter.
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
        forKey key: EntryKey,
        under expiration: Expiration = .never,
        staleWhileRevalidate: Duration = .zero,
        staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(),
        orLoad load: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let stale = (staleWhileRevalidate, staleIfError)
        let answer = try await loading(key, expiration, stale, options, acceptsNil: false, load)
        return try #require(answer.value)
    }

    @_disfavoredOverload
    func value(
        forKey key: EntryKey,
        under expiration: Expiration = .never,
        staleWhileRevalidate: Duration = .zero,
        staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(),
        orLoad load: @escaping @Sendable () async throws -> Value?
    ) async throws -> Value? {
        try await loading(
            key,
            expiration,
            (staleWhileRevalidate, staleIfError),
            options,
            acceptsNil: true,
            load
        ).value
    }

    func load(
        _ key: EntryKey,
        under expiration: Expiration = .never,
        staleWhileRevalidate: Duration = .zero,
        staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(),
        orLoad load: @escaping @Sendable () async throws -> Value
    ) async throws -> Loaded<Value> {
        let stale = (staleWhileRevalidate, staleIfError)
        let answer = try await loading(key, expiration, stale, options, acceptsNil: false, load)
        return Loaded(try #require(answer.value), answer.source)
    }

    @_disfavoredOverload
    func load(
        _ key: EntryKey,
        under expiration: Expiration = .never,
        staleWhileRevalidate: Duration = .zero,
        staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(),
        orLoad load: @escaping @Sendable () async throws -> Value?
    ) async throws -> Loaded<Value?> {
        try await loading(
            key,
            expiration,
            (staleWhileRevalidate, staleIfError),
            options,
            acceptsNil: true,
            load
        )
    }

    private func loading(
        _ key: EntryKey,
        _ expiration: Expiration,
        _ stale: (Duration, Duration),
        _ options: LoadOptions,
        acceptsNil: Bool,
        _ load: @escaping @Sendable () async throws -> Value?
    ) async throws -> Loaded<Value?> {
        let isStaleTaken = stale.0 != .zero || stale.1 != .zero
        let staleness = Staleness(whileRevalidate: stale.0, ifError: stale.1)
        var request = try LoadRequest<Value>(
            key: key,
            under: expiration,
            staleness: staleness,
            options: options,
            loader: .plain(load)
        )
        request.acceptsNil = acceptsNil
        var isDue = false
        if !isStaleTaken,
            let value = try hit(
                forKey: key,
                under: expiration,
                refreshAhead: options.refreshAhead,
                isDue: &isDue
            )
        {
            if isDue { refreshAhead(request) }
            return Loaded(value, .cached)
        }
        return try await self.load(request)
    }
}
