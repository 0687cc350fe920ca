import Foundation
import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

/// A removal by predicate matches what has expired, as it is: nothing is migrated for it, and what
/// nobody can judge goes when nobody wants it.
@Suite(.ownThreads)
struct ExpiredRemovalTests {
    private let setup: LoadingSetup

    init() throws {
        setup = try LoadingSetup()
        let other = ArchiveHarness(setup.disk, clock: setup.clock, isDelegate: false)
        let end = setup.clock.now.advanced(byMilliseconds: 10_000)
        try setup.store.record("x", forKey: "valid")
        try setup.store.record("y", forKey: "valid, no match")
        try other.store(Array("\"x\"".utf8), "expired", expires: end)
        try other.store(Array("\"y\"".utf8), "expired, no match", expires: end)
        try other.store(Array("not JSON".utf8), "expired, unreadable", expires: end)
        var entry = Entry(
            bytes: Data("\"x\"".utf8),
            written: setup.clock.now,
            expires: end,
            idle: nil
        )
        entry.typeVersion = 7
        _ = try other.write("expired, of another version", .store(entry))
    }

    private func keys() throws -> Set<String> {
        Set(try setup.store.keysByUse(withExpired: true).map(\.key.normalized))
    }

    private func remove() throws -> Int {
        try setup.store.removeAll(
            QueryDescription([.filter(.test(Test(\String.self, .isEqual("x")) { $0 == "x" }))])
        )
    }

    @Test func expiredValuesMatchAndAreNotCounted() throws {
        setup.clock.advance(by: .seconds(20))
        #expect(try remove() == 1)
        // Some program may still want them within the window.
        #expect(
            try keys() == [
                "valid, no match", "expired, no match", "expired, unreadable",
                "expired, of another version",
            ]
        )
    }

    @Test func whatNobodyCanJudgeGoesWhenNoProgramWantsIt() throws {
        setup.clock.advance(by: .seconds(100_000))
        #expect(try remove() == 1)
        // What does not match may have been swept meanwhile.
        #expect(try keys().subtracting(["expired, no match"]) == ["valid, no match"])
    }
}
