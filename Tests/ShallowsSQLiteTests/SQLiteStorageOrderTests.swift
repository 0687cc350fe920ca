import Foundation
import ShallowsSQLite
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// What is asked for first is done first, on whatever thread.
@Suite(.ownThreads)
struct SQLiteStorageOrderTests {
    let temporary: TemporaryStorages

    init() throws { temporary = try TemporaryStorages() }

    @Test func theNextCallFindsASetThatWasNotAwaited() async throws {
        let storage = temporary.storage(of: Int.self)
        for number in 0..<200 {
            storage.set(number, forKey: "number") { _ in }
            #expect(try await storage.retrieve(forKey: "number") == number)
        }
    }

    @Test func aSyncCallFindsASetThatWasNotAwaited() throws {
        let storage = temporary.storage(of: Int.self)
        let sync = storage.makeSyncStorage()
        for number in 0..<200 {
            storage.set(number, forKey: "number") { _ in }
            #expect(try sync.retrieve(forKey: "number") == number)
        }
    }

    @Test func setsOfOneKeyEndInTheirOrder() async throws {
        let storage = temporary.storage(of: Int.self)
        for number in 0..<500 { storage.set(number, forKey: "number") { _ in } }
        #expect(try await storage.retrieve(forKey: "number") == 499)
        storage.set(1, forKey: "number") { _ in }
        storage.remove(forKey: "number") { _ in }
        #expect(try await storage.retrieveIfPresent(forKey: "number") == nil)
        storage.set(2, forKey: "number") { _ in }
        storage.removeAll { _ in }
        #expect(try await storage.retrieveIfPresent(forKey: "number") == nil)
    }

    @Test func aReleasedStorageFinishesItsCalls() async throws {
        for number in 0..<50 {
            temporary.storage(of: Int.self).set(number, forKey: "number") { _ in }
            #expect(try await temporary.storage(of: Int.self).retrieve(forKey: "number") == number)
        }
    }

    @Test func syncCallsWorkInsideManyConcurrentTasks() async throws {
        let sync = temporary.storage(of: Int.self).makeSyncStorage()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<500 {
                // On the few threads of Swift's concurrency, and not on those of the test.
                group.addTask(executorPreference: globalConcurrentExecutor) {
                    let key = Filename(rawValue: "\(number)")
                    try sync.set(number, forKey: key)
                    #expect(try sync.retrieve(forKey: key) == number)
                }
            }
            try await group.waitForAll()
        }
    }

    /// A value that notes on which thread it is encoded and decoded.
    private struct Traveller: Codable {
        static let thread = Locked<ObjectIdentifier?>(nil)

        init() {}
        init(from decoder: any Decoder) throws { Traveller.note() }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(true)
            Traveller.note()
        }

        static func note() { thread.withLock { $0 = ObjectIdentifier(Thread.current) } }
    }

    @Test func aCallThatWaitsIsDoneOnItsOwnThreadAndNoOtherIs() async throws {
        let storage = temporary.storage(of: Traveller.self, memoryLimit: 1)
        let sync = storage.makeSyncStorage()
        func noted() -> ObjectIdentifier? { Traveller.thread.withLock { $0 } }
        try {
            try sync.set(Traveller(), forKey: "key")
            #expect(noted() == ObjectIdentifier(Thread.current))
            Traveller.thread.withLock { $0 = nil }
            _ = try sync.retrieve(forKey: "key")
            #expect(noted() == ObjectIdentifier(Thread.current))
        }()
        // The thread is held until the answer is there, so that none but another can have given it.
        _ = {
            let answered = DispatchSemaphore(value: 0)
            storage.set(Traveller(), forKey: "key") { _ in answered.signal() }
            answered.wait()
            #expect(noted() != nil && noted() != ObjectIdentifier(Thread.current))
        }()
    }

    @Test func syncAndAsyncCallsOfManyTasksLoseNothing() async throws {
        let storage = temporary.storage(of: Int.self)
        let sync = storage.makeSyncStorage()
        try await withThrowingTaskGroup { group in
            for number in 0..<300 {
                group.addTask {
                    let key = Filename(rawValue: "\(number)")
                    switch number % 3 {
                    case 0: try sync.set(number, forKey: key)
                    case 1: try await storage.set(number, forKey: key)
                    default:
                        storage.set(number, forKey: key) { _ in
                        }
                    }
                    #expect(try await storage.retrieve(forKey: key) == number)
                }
            }
            try await group.waitForAll()
        }
        #expect(try await storage.keys().count == 300)
    }

    // MARK: Two storages on one file

    @Test func twoStoragesOnOneFileShareIt() async throws {
        let (one, other) = (temporary.storage(of: Int.self), temporary.storage(of: Int.self))
        one.set(1, forKey: "number") { _ in }
        #expect(try await other.retrieve(forKey: "number") == 1)
        try await other.remove(forKey: "number")
        #expect(try await one.retrieveIfPresent(forKey: "number") == nil)
    }

    @Test func twoPathsToOneFileShareIt() async throws {
        let link = temporary.folder.file("link")
        try FileManager.default.createSymbolicLink(
            at: link,
            withDestinationURL: temporary.folder.url
        )
        let one = temporary.storage(of: Int.self)
        let other = SQLiteStorage<Int>(
            fileURL: link.appendingPathComponent("storage.sqlite"),
            options: .init(clock: temporary.clock.wallClock)
        )
        try await one.set(1, forKey: "number")
        #expect(try await other.retrieve(forKey: "number") == 1)
        try await other.set(2, forKey: "number")
        #expect(try await one.retrieve(forKey: "number") == 2)
    }

    @Test func ofTwoFormatsOnOneFileTheFirstToOpenIsWritten() async throws {
        let (json, cbor) = (temporary.storage(format: .json), temporary.storage(format: .cbor))
        try await json.open()
        try await cbor.set(.kharkiv, forKey: "kharkiv")
        try await json.set(.lviv, forKey: "lviv")
        #expect(try await json.retrieve(forKey: "kharkiv") == .kharkiv)
        #expect(try await cbor.retrieve(forKey: "lviv") == .lviv)
        try await json.close()
        try await cbor.close()
        let raw = temporary.storage(of: Data.self)
        for (key, city) in [("kharkiv", City.kharkiv), ("lviv", .lviv)] as [(Filename, City)] {
            let bytes = try await raw.retrieve(forKey: key)
            #expect(bytes.first == UInt8(ascii: "{"))
            #expect(try CodableFormat.decode(City.self, from: bytes) == city)
        }
    }

    @Test func otherLimitsOrAnotherTypeForAnOpenFileAreAContradiction() async throws {
        let first = temporary.storage(of: Int.self)
        try await first.set(1, forKey: "number")
        for other in [
            temporary.storage(of: Int.self, diskLimit: 1.kiloByte),
            temporary.storage(of: Int.self, durability: .relaxed),
        ] {
            #expect(await code { try await other.open() } == .contradiction)
            #expect(await code { try await other.set(2, forKey: "number") } == .contradiction)
        }
        let texts = temporary.storage(of: String.self)
        #expect(await code { _ = try await texts.retrieve(forKey: "number") } == .contradiction)
        #expect(try await first.retrieve(forKey: "number") == 1)
        // It is no verdict for ever: the next call tries again.
        try await first.close()
        #expect(await code { _ = try await texts.retrieve(forKey: "number") } == .notDecodable)
    }
}
