import Foundation
import TestThreads
import Testing
import VellumCore
import VellumTestSupport

@testable import VellumRemote

/// As in `VellumTests`: nothing that a process remembers of a server grows with the number of
/// operations.
@Suite(
    .ownThreads(.longSuite),
    .serialized,
    .enabled(if: ProcessInfo.processInfo.environment["VELLUM_OPERATIONS"] != nil)
)
struct BoundedMemoryTests {
    private static let operations =
        ProcessInfo.processInfo.environment["VELLUM_OPERATIONS"].flatMap(Int.init) ?? 0

    @Test func memoryDoesNotGrowWithTheNumberOfFills() async throws {
        let trust = Trust(for: 1000)
        trust.begin(ServerTime(milliseconds: 0, sent: 0, received: 0))
        let near = NearCache<String>(capacity: try Capacity(10.kiloByte), trust: trust)
        let record = RemoteRecord(
            value: Data(count: 100),
            typeVersion: 0,
            written: WallInstant(rawValue: 0),
            expires: .never
        )
        let growth = try await growth(during: Self.operations) { number in
            let key = EntryKey("\(number % 1000)")
            near.fill("value", record, forKey: key, ticket: near.ticket(forKey: key))
            _ = near.hit(forKey: key)
            if number % 100 == 0 { near.forget([key]) }
        }
        print(
            """
            near cache: \(Self.operations) fills, memory grew by \
            \(growth.map { "\($0 / 1024) KiB" } ?? "what is not known")
            """
        )
        if let growth { #expect(growth < max(2 << 20, Self.operations * 2)) }
    }

    @Test func memoryDoesNotGrowWithTheNumberOfCalls() async throws {
        let time = ManualTime()
        let trust = Trust(for: 100, clock: time.clock)
        trust.begin(ServerTime(milliseconds: 0, sent: 0, received: 0))
        let store = SharedStore(
            name: "test",
            near: NearCache(capacity: try Capacity(10.kiloByte), trust: trust),
            backend: ForgetfulBackend(),
            coding: SharedStore<String>.Coding(
                typeVersion: 0,
                encode: { Data($0.utf8) },
                decode: { bytes, _, _ in String(decoding: bytes, as: UTF8.self) }
            )
        )
        let growth = try await growth(during: Self.operations / 10) { number in
            let key = EntryKey("\(number)")
            try await store.set("value", forKey: key, under: .never)
            _ = try await store.value(forKey: key, asksServer: false)
            let request = try LoadRequest<String>(
                key: key,
                under: .never,
                staleness: Staleness(whileRevalidate: .zero, ifError: .zero),
                options: LoadOptions(),
                loader: .plain { "1" }
            )
            _ = try await store.load(request)
            try await store.removeValue(forKey: key)
        }
        print(
            """
            shared store: \(Self.operations / 10) keys, memory grew by \
            \(growth.map { "\($0 / 1024) KiB" } ?? "what is not known")
            """
        )
        if let growth { #expect(growth < max(2 << 20, Self.operations / 10 * 8)) }
    }
}

/// A server that has nothing, so that only the process's memory can grow.
private final class ForgetfulBackend: RemoteBackend {
    let leaseDuration: Int64 = 1000

    func entry(forKey key: EntryKey) async throws(RemoteFailure) -> RemoteEntry { .missing }
    func entryOrLease(
        forKey key: EntryKey,
        token: LeaseToken,
        ignoresEntry: Bool,
        atReply: @escaping @Sendable () -> Void
    ) async throws(RemoteFailure) -> LeaseAnswer {
        defer { atReply() }
        return .granted(old: .missing)
    }
    func entries(forKeys keys: [EntryKey]) async throws(RemoteFailure) -> [RemoteEntry] {
        keys.map { _ in .missing }
    }
    func put(
        _ record: RemoteRecord,
        forKey key: EntryKey,
        lifetime: Int64?
    ) async throws(RemoteFailure) {}
    func putIfAbsent(
        _ record: RemoteRecord,
        forKey key: EntryKey,
        lifetime: Int64?,
        replacing removed: RemoteRecord?
    ) async throws(RemoteFailure) -> Bool? { true }
    func epochs(
        of groups: [EntryKey],
        orMake new: (epoch: UInt64, lifetime: Int64?)?
    ) async throws(RemoteFailure) -> [EntryKey: UInt64] {
        [:]
    }
    func removeGroups(_ groups: [EntryKey], epoch: UInt64) async throws(RemoteFailure) {}
    func drop(_ keys: [EntryKey]) async throws(RemoteFailure) {}
    func dropAll(at places: Set<Int>) async -> [Int: RemoteFailure] { [:] }
    func fill(
        _ record: RemoteRecord,
        forKey key: EntryKey,
        lifetime: Int64?,
        token: LeaseToken
    ) async throws(RemoteFailure) -> Bool {
        true
    }
    func renewEntry(
        _ record: RemoteRecord,
        forKey key: EntryKey,
        lifetime: Int64?,
        token: LeaseToken
    ) async throws(RemoteFailure) -> Bool { true }
    func renew(_ token: LeaseToken, forKey key: EntryKey) async throws(RemoteFailure) -> Bool {
        true
    }
    func giveBack(_ token: LeaseToken, forKey key: EntryKey) async throws(RemoteFailure) {}
}
