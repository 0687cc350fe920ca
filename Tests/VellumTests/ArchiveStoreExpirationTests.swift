import Foundation
import Testing
import Vellum

/// How long an object is valid. (C12)
@Suite(.timeLimit(.minutes(60)))
struct ArchiveStoreExpirationTests {
    let temporary = TemporaryArchives()
    let store: ArchiveStore<Parcel>

    init() throws {
        store = try temporary.factory.store()
    }

    @Test(arguments: [false, true])
    func anExpiredObjectIsNil(isOnDisk: Bool) throws {
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

    @Test func recordingRevivesAnExpiredObject() throws {
        try store.record(Parcel("a"), expiration: .after(.seconds(60)))
        temporary.clock.advance(bySeconds: 61)
        #expect(try store.access(archiveWithKey: "a") == nil)

        try store.record(Parcel("a"), expiration: .after(.seconds(60)))

        #expect(try store.access(archiveWithKey: "a") == Parcel("a"))
    }

    @Test func accessingDoesNotProlongALife() throws {
        try store.record(Parcel("a"), expiration: .after(.seconds(60)))
        temporary.clock.advance(bySeconds: 40)
        store.trimMemory(to: .zero)
        #expect(try store.access(archiveWithKey: "a") != nil)
        temporary.clock.advance(bySeconds: 40)

        #expect(try store.access(archiveWithKey: "a") == nil)
    }

    @Test func anObjectDatedInTheFutureIsExpiredAndOneWithoutAnAgeIsNot() throws {
        try store.record(Parcel("a"), expiration: .after(.seconds(86400)))
        try store.record(Parcel("b"))
        temporary.clock.advance(bySeconds: -3600)

        #expect(try store.access(archiveWithKey: "a") == nil)
        #expect(try store.access(archiveWithKey: "b") == Parcel("b"))
    }

    @Test func anAgeSurvivesAReopening() throws {
        try store.record(Parcel("a"), expiration: .after(.seconds(60)))
        try temporary.factory.close()
        temporary.clock.advance(bySeconds: 60)

        #expect(try temporary.factory.store(for: Parcel.self).access(archiveWithKey: "a") == nil)
    }

    @Test(arguments: [-1, -0.0001, -.infinity, .nan])
    func anAgeThatIsNoneIsRefused(seconds: Double) {
        let error = #expect(throws: StoreError.self) { _ = try Expiration(validatingSeconds: seconds) }

        #expect(error?.code == .invalidDuration)
    }

    @Test func anInfiniteAgeIsForEver() {
        #expect(Expiration.after(seconds: .infinity) == .never)
        #expect(throws: StoreError.self) { _ = try Expiration(validating: .seconds(-1)) }
    }
}
