import Foundation
import TestThreads
import Testing
import Vellum

/// Many keys at once, and keys with a prefix.
@Suite(.ownThreads)
struct ManyKeysTests {
    let temporary = TemporaryArchives()
    let users: ArchiveStore<User>

    init() throws {
        users = try temporary.factory.store(memoryLimit: 1.megaByte, diskLimit: 1.megaByte)
    }

    private func user(_ number: Int) -> User { User(name: "user \(number)", age: number) }

    @Test func theObjectsAreThoseOfSingleCalls() throws {
        try users.record(contentsOf: (0..<50).map(user))
        let keys = (0..<60).map { "user \($0)" } + ["user 3", ""]
        // From memory, from the disk, and from both.
        for trim in [1.megaByte, .zero, DataSize(bytes: 500)] {
            users.trimMemory(to: trim)
            let found = try users.access(allKeys: keys)
            #expect(found.count == 50)
            #expect(try found.allSatisfy { try users.access(archiveWithKey: $0) == $1 })
        }
        #expect(try users.access(allKeys: []).isEmpty)
    }

    @Test func whatWasReadIsInMemoryAndUsed() throws {
        try users.record(contentsOf: (0..<50).map(user))
        users.trimMemory(to: .zero)
        let before = try users.statistics()
        #expect(try users.access(allKeys: ["user 7", "user 3", "nobody"]).count == 2)
        #expect(try users.keys(limit: 2) == ["user 3", "user 7"])
        #expect(try users.access(allKeys: ["user 7", "user 3"]).count == 2)
        let after = try users.statistics()
        #expect(after.diskHits - before.diskHits == 2)
        #expect(after.memoryHits - before.memoryHits == 2)
        #expect(after.misses - before.misses == 1)
    }

    @Test func expiredObjectsAreLeftOut() throws {
        try users.record(user(1), expiration: .after(.seconds(10)))
        try users.record(user(2), expiration: .unused(for: .seconds(10)))
        try users.record(user(3))
        let keys = (1...3).map { "user \($0)" }
        temporary.clock.advance(bySeconds: 6)
        users.trimMemory(to: .zero)
        #expect(try users.access(allKeys: keys).count == 3)
        temporary.clock.advance(bySeconds: 6)
        for trim in [1.megaByte, .zero] {
            users.trimMemory(to: trim)
            #expect(try users.access(allKeys: keys).keys.sorted() == ["user 2", "user 3"])
        }
    }

    @Test func anObjectThatCannotBeDecodedIsAnErrorOrLeftOut() throws {
        let parcels: ArchiveStore<Parcel> = try temporary.factory.store()
        try parcels.record(Parcel("a"))
        try parcels.close()
        let strangers: ArchiveStore<Stranger> = try temporary.factory.store()
        try strangers.record(Stranger(name: "b"))
        let error = #expect(throws: VellumError.self) { try strangers.access(allKeys: ["a", "b"]) }
        #expect(error?.code == .notDecodable)
        #expect(
            try strangers.access(allKeys: ["a", "b"], undecodable: .skip) == [
                "b": Stranger(name: "b")
            ]
        )
    }

    /// Memory keeps the bytes of instances of classes.
    @Test(arguments: [false, true])
    func whatMemoryCannotDecodeIsLeftOutAsWhatIsOnDisk(isTrimmed: Bool) throws {
        let notes: ArchiveStore<Note> = try temporary.factory.store()
        try notes.record(Note("a", text: "two\nlines"))
        try notes.record(Note("b", text: "one"))
        if isTrimmed { notes.trimMemory(to: .zero) }
        let error = #expect(throws: VellumError.self) { try notes.access(allKeys: ["a", "b"]) }
        #expect(error?.code == .notDecodable)
        #expect(
            try notes.access(allKeys: ["a", "b", "c"], undecodable: .skip).keys.sorted() == ["b"]
        )
    }

    @Test func keysWithAPrefixAreListedAndDeleted() throws {
        try users.record(
            contentsOf: (0..<600).map { User(name: ($0 % 2 == 0 ? "even " : "odd ") + "\($0)") }
        )
        #expect(try users.keys(prefix: "odd").count == 300)
        #expect(try users.keys(prefix: "even", limit: 2) == ["even 598", "even 596"])
        #expect(try users.keys(prefix: "even", limit: 0) == [])
        #expect(try users.keys(prefix: "neither") == [])
        #expect(try users.keys(prefix: "").count == 600)
        #expect(try users.deleteAll(prefix: "odd ") == 300)
        #expect(try users.keys(prefix: "odd") == [])
        #expect(try users.count() == 300)
        #expect(try users.deleteAll(prefix: "odd ") == 0)
    }

    @Test func aPrefixIsComparedAsStringsAre() throws {
        try users.record(User(name: "e\u{301}tude"))
        #expect(try users.keys(prefix: "\u{e9}") == ["\u{e9}tude"])
        #expect(try users.keys(prefix: "e") == [])
    }
}

/// What another type takes for its own: an archive of the same name.
private struct Stranger: ArchiveCodable, Equatable {
    static var archiveName: String { Parcel.archiveName }
    var primaryKey: String { name }
    var name: String
}
