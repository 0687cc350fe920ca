import Foundation
import ShallowsSQLite
import TestThreads
import Testing
import VellumTestSupport

/// The disk limit belongs to the file, and storages are independent handles on it.
@Suite(.ownThreads)
struct SQLiteStorageHandleTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func storage(_ disk: DataSize? = nil) -> SQLiteStorage<Data> {
        SQLiteStorage<Data>(fileURL: folder.file("storage.sqlite"), options: .init(diskLimit: disk))
    }

    @Test func aFileKeepsTheLimitItWasGiven() async throws {
        let first = storage(5000)
        for number in 0..<10 {
            try await first.set(Data(count: 1000), forKey: Filename(rawValue: "\(number)"))
        }
        try await first.close()
        let second = storage()
        try await second.set(Data(count: 1000), forKey: "new")
        #expect(try await second.statistics().disk.bytes == 5000)
        try await second.close()
        #expect(try await storage(3000).statistics().removals[.limitLowered] == 2)
    }

    @Test func aStorageMayAskForMoreAndNotForLess() async throws {
        let first = storage(5000)
        try await first.open()
        try await storage(10_000).open()
        for number in 0..<10 {
            try await first.set(Data(count: 1000), forKey: Filename(rawValue: "\(number)"))
        }
        #expect(try await first.keys().count == 10)
        let error = await #expect(throws: ShallowsError.self) { try await storage(1000).open() }
        #expect(error?.code == .contradiction)
    }

    @Test func aStorageIsClosedInACancelledTaskToo() async throws {
        let storage = storage()
        try await storage.set(Data(count: 1), forKey: "a")
        let closing = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await storage.flush()
            try await storage.suspend()
            try await storage.resume()
            try await storage.close()
        }
        try await closing.value
        let error = await #expect(throws: ShallowsError.self) {
            _ = try await storage.retrieve(forKey: "a")
        }
        #expect(error?.code == .closed)
    }

    @Test func aSuspendedStorageIsResumedByAWaitingCallToo() async throws {
        let storage = storage()
        try await storage.set(Data(count: 1), forKey: "a")
        try storage.suspendAndWait()
        try storage.resumeAndWait()
        try await storage.set(Data(count: 2), forKey: "a")
        #expect(try await storage.retrieve(forKey: "a") == Data(count: 2))
    }
}
