import Foundation
import TestThreads
import Testing
import Vellum
import VellumTesting

/// Loading of missing objects.
@Suite(.ownThreads)
struct ArchiveStoreLoadingTests {
    let temporary = TemporaryArchives()
    let users: ArchiveStore<User>

    init() throws {
        users = try temporary.factory.store()
    }

    struct Outage: Error {}

    struct Ticket: ArchiveCodable {
        var primaryKey = "ticket"
        var owner: User
    }

    private func fail() async throws -> User { throw Outage() }

    @Test func aMissingObjectIsLoadedAndRecorded() async throws {
        #expect(
            try await users.load("ann") { User(name: "ann", age: 1) }
                == Loaded(User(name: "ann", age: 1), .loaded)
        )
        #expect(try users.access(archiveWithKey: "ann")?.age == 1)
        #expect(
            try await users.load("ann", orLoad: fail) == Loaded(User(name: "ann", age: 1), .cached)
        )
    }

    @Test func concurrentLoadsOfOneKeyRunOneLoader() async throws {
        let users = users
        let starts = Starts()
        try await withThrowingTaskGroup(of: User.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    try await users.value(forKey: "ann") {
                        await users.waitForCallers(200)
                        return User(name: "ann", age: await starts.next())
                    }
                }
            }
            for try await user in group { #expect(user.age == 1) }
        }
    }

    private actor Starts {
        private var count = 0

        func next() -> Int {
            count += 1
            return count
        }
    }

    @Test func aStaleObjectIsReturnedDuringARefreshAndAfterItsFailure() async throws {
        try users.record(User(name: "ann", age: 1), expiration: .after(.seconds(60)))
        temporary.clock.advance(bySeconds: 70)
        let safe = try await users.load("ann", staleIfError: .seconds(60), orLoad: fail)
        #expect(safe == Loaded(User(name: "ann", age: 1), .staleIfError))
        await #expect(throws: Outage.self) {
            try await users.value(forKey: "ann", staleIfError: .seconds(5), orLoad: fail)
        }
        let stale = try await users.load("ann", staleWhileRevalidate: .seconds(60)) {
            User(name: "ann", age: 2)
        }
        #expect(stale == Loaded(User(name: "ann", age: 1), .staleWhileRevalidate))
        try await until("the refreshed object is there") {
            let minute = Duration.seconds(60)
            let user = try await users.value(
                forKey: "ann",
                staleWhileRevalidate: minute,
                orLoad: fail
            )
            return user.age == 2
        }
    }

    @Test func loadedObjectsHaveTheExpirationOfTheHandleByDefault() async throws {
        let aging = try temporary.factory.store(for: User.self, expiration: .after(.seconds(60)))
        _ = try await aging.value(forKey: "ann") { User(name: "ann", age: 1) }
        _ = try await aging.value(forKey: "bob", options: LoadOptions(expiration: .never)) {
            User(name: "bob", age: 1)
        }
        temporary.clock.advance(bySeconds: 60)
        #expect(try aging.access(archiveWithKey: "ann") == nil)
        #expect(try aging.access(archiveWithKey: "bob") != nil)
    }

    @Test func aLoaderMayReturnNilAndTheResultMayBeCached() async throws {
        let options = LoadOptions(negativeMaxAge: .seconds(10))
        #expect(
            try await users.load("ann", options: options) { () async throws -> User? in nil }
                == Loaded(nil, .loaded)
        )
        #expect(
            try await users.load("ann", options: options) { () async throws -> User? in nil }
                == Loaded(nil, .cached)
        )
        #expect(try await users.value(forKey: "ann") { User(name: "ann") } == User(name: "ann"))
    }

    @Test func anObjectOfAnotherKeyIsAnError() async throws {
        let error = await #expect(throws: VellumError.self) {
            try await users.value(forKey: "ann") { User(name: "bob") }
        }
        #expect(error?.code == .otherKey)
        #expect(error?.description.contains("bob") == false)
        #expect(try users.count() == 0)
    }

    @Test func loadingThrowsVellumError() async throws {
        let noAge = await #expect(throws: VellumError.self) {
            try await users.value(
                forKey: "ann",
                options: LoadOptions(expiration: .after(seconds: .nan))
            ) { User(name: "ann") }
        }
        #expect(noAge?.code == .invalidDuration)
        let recursive = await #expect(throws: VellumError.self) {
            try await users.value(forKey: "ann") { [users] in
                try await users.value(forKey: "ann") { User(name: "ann") }
            }
        }
        #expect(recursive?.code == .recursiveLoad)
    }

    @Test func propertiesOfALoadedObjectAreRecordedInTheirArchives() async throws {
        let tickets = try temporary.factory.store(for: Ticket.self)
        _ = try await tickets.value(forKey: "ticket") { Ticket(owner: User(name: "ann")) }
        #expect(try users.keys() == ["ann"])
    }

    @Test func propertiesOfALoadedObjectAreNotRecordedIfTheObjectIsNot() async throws {
        let tickets = try temporary.factory.store(for: Ticket.self)
        _ = try await tickets.value(forKey: "ticket") {
            try tickets.deleteAll()
            return Ticket(owner: User(name: "ann"))
        }
        #expect(try users.count() == 0)
    }

    @Test func aLoaderMayUseOtherArchives() async throws {
        let tickets = try temporary.factory.store(for: Ticket.self)
        let ticket = try await tickets.value(forKey: "ticket") { [users] in
            Ticket(owner: try await users.value(forKey: "ann") { User(name: "ann", age: 3) })
        }
        #expect(ticket.owner.age == 3)
    }
}
