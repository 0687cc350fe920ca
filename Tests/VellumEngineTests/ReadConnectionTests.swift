import Foundation
import TestThreads
import Testing
import VellumCore
import VellumTestSupport

@testable import VellumEngine

@Suite(.ownThreads)
struct ReadConnectionTests {
    private let setup: Setup

    init() throws { setup = try Setup() }

    /// SQLite takes the snapshot with the first read of a transaction, so it may hold commits that
    /// the wal-index did not show at its beginning.
    @Test func whatIsKnownOfASnapshotIsNotUsedForALaterTransaction() throws {
        let store = try setup.store()
        try store.record(Data(1, count: 10), forKey: "a")
        let reader = try ReadConnection(store.disk.file.location)
        func hasExpiring(after change: () throws -> Void) throws -> Bool {
            defer { reader.endLease() }
            try reader.begin(keepingLease: true, at: 0)
            try change()
            return try reader.tables(of: store.disk.archive).extent(of: nil).hasExpiring
        }
        #expect(try !hasExpiring {})
        #expect(
            try hasExpiring {
                try store.record(
                    Data(1, count: 10),
                    forKey: "b",
                    expiration: Expiration(age: 60_000)
                )
            }
        )
    }
}
