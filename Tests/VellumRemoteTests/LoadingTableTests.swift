import Foundation
import TestThreads
import Testing
import VellumCore
import VellumTestSupport

@testable import VellumRemote

/// The table of the guide "Loading", for shared caches, on a server in memory.
@Suite(.ownThreads)
struct SharedLoadingTableTests {
    private struct Subject: LoadingSubject {
        let clock: ManualClock
        let store: SharedStore<String>

        init(clock: ManualClock) throws {
            self.clock = clock
            let trust = Trust(for: 100, clock: clock.steady)
            trust.begin(
                ServerTime(
                    milliseconds: clock.now.rawValue,
                    sent: clock.now.rawValue,
                    received: clock.now.rawValue
                )
            )
            var times = SharedStore<String>.Times()
            times.clock = clock.steady
            times.sleep = { try await clock.sleep($0) }
            store = SharedStore(
                name: "test",
                near: NearCache(capacity: try Capacity(1.megaByte), trust: trust),
                backend: ScriptedBackend(clock: clock.steady, leaseDuration: 1_000_000),
                coding: SharedStore.Coding(
                    typeVersion: 0,
                    encode: { Data($0.utf8) },
                    decode: { bytes, _, _ in String(decoding: bytes, as: UTF8.self) }
                ),
                times: times
            )
        }

        func load(
            whileRevalidate: Duration,
            ifError: Duration,
            options: LoadOptions,
            _ loader: @escaping @Sendable (String?) async throws -> LoadResult<String>
        ) async throws -> Loaded<String?> {
            var request = try LoadRequest<String>(
                key: "a",
                under: .never,
                staleness: Staleness(whileRevalidate: whileRevalidate, ifError: ifError),
                options: options,
                loader: .informed(loader)
            )
            request.acceptsNil = true
            return try await store.load(request)
        }

        func stored() async throws -> String? {
            try await store.value(forKey: "a", asksServer: true)
        }
    }

    @Test(arguments: LoadingCell.all) func eachCellIsAsTheTableSays(
        _ cell: LoadingCell
    ) async throws {
        #expect(try await cell.run(on: Subject(clock: ManualClock())) == cell.expected)
    }
}
