import Foundation
import TestThreads
import Testing
import Vellum

/// Failures of the methods that do not throw, where the document is silent: nothing is lost, and
/// every failure is reported.
@Suite(.ownThreads)
struct FailureTests {
    struct Number: Archivable, Equatable {
        var primaryKey: String { "number" }
        var value: Int

        func archive() throws -> Data {
            guard value >= 0 else { throw CocoaError(.coderInvalidValue) }
            return Data("\(value)".utf8)
        }

        static func deArchive(fromData data: Data) throws -> Archivable {
            guard let value = Int(String(decoding: data, as: UTF8.self)), value != 13 else {
                throw CocoaError(.coderReadCorrupt)
            }
            return Number(value: value)
        }
    }

    let temporary = TemporaryArchives()

    @Test func anObjectThatCannotBeEncodedIsReportedAndTheOldOneIsKept() async throws {
        let archives = try temporary.factory.archives(for: Number.self)
        let failures = archives.failures
        archives.record(Number(value: 1))

        archives.record(Number(value: -1))

        for await failure in failures {
            #expect(failure.code == .notEncodable)
            break
        }
        #expect(archives.access(archiveWithKey: "number") == Number(value: 1))
    }

    @Test func anObjectThatIsTooLargeIsReportedAndTheOldOneIsKept() async throws {
        let archives = try temporary.factory.archives(
            for: Parcel.self,
            trySetMaxMemorySize: 100,
            trySetMaxDiskSize: 100
        )
        let failures = archives.failures
        archives.record(Parcel("box", size: 50))

        archives.record(Parcel("box", size: 101))

        for await failure in failures {
            #expect(failure.code == .tooLarge)
            break
        }
        #expect(archives.access(archiveWithKey: "box") == Parcel("box", size: 50))
    }

    @Test func anObjectThatCannotBeDecodedIsNilAndIsReported() async throws {
        try temporary.factory.archives(for: Number.self).record(Number(value: 13))
        try temporary.factory.close()
        let archives = try temporary.factory.archives(for: Number.self)
        let failures = archives.failures

        #expect(archives.access(archiveWithKey: "number") == nil)

        for await failure in failures {
            #expect(failure.code == .notDecodable)
            break
        }
        #expect(try archives.store.contains(archiveWithKey: "number"))
    }

    @Test(arguments: [-1, -0.001, -.infinity, .nan])
    func anInvalidIntervalDeletesNothingAndIsReported(interval: TimeInterval) async throws {
        let archives = try temporary.factory.archives(for: Number.self)
        let failures = archives.failures
        archives.record(Number(value: 1))
        temporary.clock.advance(bySeconds: 1000)

        archives.deleteAllInvalidateArchives(invalidateTimeInterval: interval)

        for await failure in failures {
            #expect(failure.code == .invalidDuration)
            break
        }
        #expect(archives.accessAll() == [Number(value: 1)])
    }

    @Test func everyMethodOfAClosedArchiveReturnsAnEmptyResult() throws {
        let archives = try temporary.factory.archives(for: Number.self)
        archives.record(Number(value: 1))
        try temporary.factory.close()

        archives.record(Number(value: 2))
        archives.delete(archiveWithKey: "number")
        archives.deleteAll()

        #expect(archives.access(archiveWithKey: "number") == nil)
        #expect(archives.accessAll().isEmpty)
        #expect(archives.latestAccessedTime(for: "number") == nil)
        #expect(archives.currentSize == .zero)
        // No call changed the archive.
        #expect(
            try temporary.factory.archives(for: Number.self).access(archiveWithKey: "number")
                == Number(value: 1)
        )
    }

    @Test(arguments: [DataSize.zero, -1, .bytes(Int.min)])
    func aSizeOfZeroOrLessIsAnError(size: DataSize) {
        #expect(throws: VellumError.self) {
            _ = try temporary.factory.store(for: Parcel.self, memoryLimit: size)
        }
        #expect(throws: VellumError.self) {
            _ = try temporary.factory.store(for: Parcel.self, diskLimit: size)
        }
        #expect(throws: VellumError.self) {
            _ = try ArchiveManager<Parcel>(maxMemorySize: size, maxDiskSize: 1.megaByte)
        }
    }

    @Test func theStoreOfTheSameArchiveThrows() throws {
        let archives = try temporary.factory.archives(for: Number.self)

        let error = #expect(throws: VellumError.self) {
            try archives.store.record(Number(value: -1))
        }

        #expect(error?.code == .notEncodable)
    }
}
