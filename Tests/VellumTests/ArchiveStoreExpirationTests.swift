import Foundation
import TestThreads
import Testing
import Vellum

/// Expiration of objects. (C12)
@Suite(.ownThreads)
struct ArchiveStoreExpirationTests {
    let temporary = TemporaryArchives()
    let store: ArchiveStore<Parcel>

    init() throws {
        store = try temporary.factory.store()
    }

    @Test(arguments: [false, true])
    func accessReturnsNilForAnExpiredObject(isOnDisk: Bool) throws {
        try store.record(Parcel("a"), expiration: .after(.seconds(60)))
        try store.record(Parcel("b"))
        if isOnDisk { store.trimMemory(to: .zero) }

        temporary.clock.advance(bySeconds: 59)
        #expect(try store.accessAll().count == 2)

        temporary.clock.advance(bySeconds: 1)
        #expect(try store.access(archiveWithKey: "a") == nil)
        #expect(try !store.contains(archiveWithKey: "a"))
        #expect(try store.metadata(forKey: "a") == nil)
        #expect(try store.accessAll() == [Parcel("b")])
        #expect(try store.keys() == ["b"])
    }

    @Test func recordingReplacesAnExpiredObject() throws {
        try store.record(Parcel("a"), expiration: .after(.seconds(60)))
        temporary.clock.advance(bySeconds: 61)
        #expect(try store.access(archiveWithKey: "a") == nil)

        try store.record(Parcel("a"), expiration: .after(.seconds(60)))

        #expect(try store.access(archiveWithKey: "a") == Parcel("a"))
    }

    @Test func accessingDoesNotExtendTheExpiration() throws {
        try store.record(Parcel("a"), expiration: .after(.seconds(60)))
        temporary.clock.advance(bySeconds: 40)
        store.trimMemory(to: .zero)
        #expect(try store.access(archiveWithKey: "a") != nil)
        temporary.clock.advance(bySeconds: 40)

        #expect(try store.access(archiveWithKey: "a") == nil)
    }

    @Test func anObjectDatedInTheFutureIsExpiredUnlessItNeverExpires() throws {
        try store.record(Parcel("a"), expiration: .after(.seconds(86400)))
        try store.record(Parcel("b"))
        temporary.clock.advance(bySeconds: -3600)

        #expect(try store.access(archiveWithKey: "a") == nil)
        #expect(try store.access(archiveWithKey: "b") == Parcel("b"))
    }

    @Test func expirationsSurviveReopening() throws {
        try store.record(Parcel("a"), expiration: .after(.seconds(60)))
        try temporary.factory.close()
        temporary.clock.advance(bySeconds: 60)

        #expect(try temporary.factory.store(for: Parcel.self).access(archiveWithKey: "a") == nil)
    }

    @Test func anInfiniteExpirationNeverExpires() {
        #expect(Expiration.after(seconds: .infinity) == .never)
    }
}
