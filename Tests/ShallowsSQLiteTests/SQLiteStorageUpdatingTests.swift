import Foundation
import ShallowsSQLite
import Synchronization
import TestThreads
import Testing
import VellumTestSupport

/// `update(forKey:_:)` on a file that others write, too.
@Suite(.ownThreads)
struct SQLiteStorageUpdatingTests {
    let temporary: TemporaryStorages

    init() throws { temporary = try TemporaryStorages() }

    @Test func anUpdateChangesTheValue() async throws {
        let numbers = temporary.storage(of: Int.self)
        try await numbers.set(1, forKey: "a")
        #expect(try await numbers.update(forKey: "a") { $0 += 1 } == 2)
        #expect(try await numbers.retrieve(forKey: "a") == 2)
        #expect(try numbers.makeSyncStorage().update(forKey: "a") { $0 += 1 } == 3)
        let error = await #expect(throws: ShallowsError.self) {
            try await numbers.update(forKey: "nothing") { $0 += 1 }
        }
        #expect(error?.isMiss == true)
    }

    private struct Tags: Codable {
        var words = Set((0..<40).map { "\($0)" })
        var list = [1, 2]

        /// Makes an equal set, in another order.
        mutating func shuffle() { words = Set(words.shuffled()) }
    }

    @Test(arguments: [CodableFormat.cbor, .json])
    func aValueThatDidNotChangeIsNotWritten(_ format: CodableFormat) async throws {
        let storage = temporary.storage(of: Tags.self, format: format)
        try await storage.set(Tags(), forKey: "a")
        let puts = try await storage.statistics().puts
        for _ in 0..<20 { try await storage.update(forKey: "a") { $0.shuffle() } }
        #expect(try await storage.statistics().puts == puts)
        try await storage.update(forKey: "a") { $0.list.reverse() }
        #expect(try await storage.retrieve(forKey: "a").list == [2, 1])
        #expect(try await storage.statistics().puts == puts + 1)
    }

    @Test func aValueThatDidNotChangeGetsTheAgeOfItsStorage() async throws {
        let storage = temporary.storage(of: Tags.self, expiration: .after(.seconds(10)))
        try await storage.set(Tags(), forKey: "a")
        temporary.clock.advance(by: .seconds(6))
        try await storage.update(forKey: "a") { _ in }
        temporary.clock.advance(by: .seconds(6))
        #expect(try await storage.retrieve(forKey: "a").list == [1, 2])
    }

    private class Animal: Codable, @unchecked Sendable {}
    private final class Cat: Animal, @unchecked Sendable {}

    @Test func aValueOfASubclassIsRefused() async throws {
        let storage = temporary.storage(of: Animal.self)
        let error = await #expect(throws: ShallowsError.self) {
            try await storage.set(Cat(), forKey: "a")
        }
        #expect("\(String(describing: error))".contains("Cat"))
    }

    @Test func anUpdateThatIsOvertakenRunsAgain() async throws {
        let numbers = temporary.storage(of: Int.self)
        try await numbers.set(1, forKey: "a")
        let (runs, sync) = (Runs(), numbers.makeSyncStorage())
        let result = try await numbers.update(forKey: "a") { value in
            if runs.next() == 1 {
                do { try sync.set(10, forKey: "a") } catch { Issue.record(error) }
            }
            value += 1
        }
        #expect(result == 11)
        #expect(runs.count == 2)
        #expect(try await numbers.retrieve(forKey: "a") == 11)
    }

    @Test func anUpdateThatIsOvertakenAgainAndAgainIsBusy() async throws {
        let numbers = temporary.storage(of: Int.self)
        try await numbers.set(0, forKey: "a")
        let (runs, sync) = (Runs(), numbers.makeSyncStorage())
        let error = await #expect(throws: ShallowsError.self) {
            try await numbers.update(forKey: "a") { value in
                let run = runs.next()
                do { try sync.set(run * 10, forKey: "a") } catch { Issue.record(error) }
                value += 1
            }
        }
        #expect(error?.code == .busy)
        #expect(try await numbers.retrieve(forKey: "a") == 640)
    }

    @TaskLocal private static var request = 0

    @Test func performRunsSynchronousCallsWithTaskLocalValues() async throws {
        let numbers = temporary.storage(of: Int.self)
        let (value, request) = try await Self.$request.withValue(7) {
            try await numbers.perform { numbers in
                try numbers.set(1, forKey: "a")
                return (try numbers.update(forKey: "a") { $0 += 1 }, Self.request)
            }
        }
        #expect(value == 2)
        #expect(request == 7)
    }

    /// A thread of `perform` may block for a storage that answers later, although it runs a task.
    @Test func performMayWaitForAStorageThatAnswersLater() async throws {
        let numbers = temporary.storage(of: Int.self)
        try await numbers.set(1, forKey: "a")
        let late = Storage<Filename, Int>(
            storageName: "late",
            retrieve: { _, completion in DispatchQueue.global().async { completion(.success(5)) } },
            set: { _, _, completion in DispatchQueue.global().async { completion(.success(())) } }
        ).makeSyncStorage()
        #expect(
            try await numbers.perform { try late.retrieve(forKey: "a") + $0.retrieve(forKey: "a") }
                == 6
        )
    }

    @Test func noUpdateIsLostAmongStoragesOnOneFile() async throws {
        let storages = (0..<3).map { _ in temporary.storage(of: Int.self) }
        try await storages[0].set(0, forKey: "a")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<6 {
                group.addTask {
                    for _ in 0..<50 { try await storages[task % 3].update(forKey: "a") { $0 += 1 } }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await storages[1].retrieve(forKey: "a") == 300)
    }
}

private final class Runs: Sendable {
    private let number = Atomic(0)
    var count: Int { number.load(ordering: .relaxed) }
    func next() -> Int { number.add(1, ordering: .relaxed).newValue }
}
