import Foundation
import TestThreads
import Testing
import Vellum

private struct Hidden: ArchiveCodable {
    var primaryKey = "hidden"
}

struct Wrapper<Content: Codable & Sendable>: ArchiveCodable {
    var primaryKey = "wrapper"
    var content: Content
}

@Suite(.ownThreads)
struct ArchivableTests {
    @available(*, deprecated)
    struct Nothing: Archivable {
        var primaryKey = "nothing"
    }

    struct Empty: Archivable, Equatable {
        var primaryKey: String { "empty" }
        func archive() throws -> Data { Data() }
        static func deArchive(fromData data: Data) throws -> any Archivable {
            guard data.isEmpty else { throw Refusal(words: "not empty") }
            return Empty()
        }
    }

    struct Reading: ArchiveCodable {
        var primaryKey = "reading"
        var float: Float
        var double: Double
        var date: Date
    }

    enum Level: String, ArchiveCodable {
        case low, high
        var primaryKey: String { rawValue }
    }

    let temporary = TemporaryArchives()

    @Test func sizeOfDataIsTheSizeOfTheEncodedObject() {
        #expect(Parcel("a", size: 123).sizeOfData == 123)
        #expect(Parcel.refusing("a").sizeOfData == .zero)
    }

    @available(*, deprecated)
    @Test func aTypeWithoutMethodsThrowsAnErrorThatNamesThem() throws {
        let store = try temporary.factory.store(for: Nothing.self)

        let error = #expect(throws: VellumError.self) { try store.record(Nothing()) }

        #expect(error?.code == .notEncodable)
        #expect(String(reflecting: error).contains("archive()"))
    }

    // MARK: Names (P53)

    @Test func aNameThatChangesOnEveryLaunchIsAnError() throws {
        struct Local: ArchiveCodable {
            var primaryKey = "local"
        }
        let attempts: [() throws -> Void] = [
            { _ = try temporary.factory.store(for: Hidden.self) },
            { _ = try temporary.factory.archives(for: Hidden.self) },
            { _ = try temporary.factory.store(for: Local.self) },
            { _ = try temporary.factory.archives(for: Local.self) },
            { _ = try temporary.factory.store(for: Wrapper<Hidden>.self) },
        ]
        for attempt in attempts {
            let error = #expect(throws: VellumError.self) { try attempt() }
            #expect(error?.code == .unnamedArchive)
            #expect(error?.message.contains("static var archiveName: String {") == true)
        }
    }

    @Test func genericTypesHaveAnArchiveForEachArgument() throws {
        let numbers = try temporary.factory.store(for: Wrapper<Int>.self)
        let words = try temporary.factory.store(for: Wrapper<String>.self)

        try numbers.record(Wrapper(content: 5))

        #expect(try words.count() == 0)
        #expect(try numbers.access(archiveWithKey: "wrapper")?.content == 5)
    }

    // MARK: Values (P43, P44)

    @Test func anObjectWithEmptyDataIsNotAMiss() throws {
        var store = try temporary.factory.store(for: Empty.self)
        #expect(try store.access(archiveWithKey: "empty") == nil)

        try store.record(Empty())
        #expect(try store.access(archiveWithKey: "empty") == Empty())
        #expect(try store.metadata(forKey: "empty")?.size == .zero)
        #expect(try store.count() == 1)
        try temporary.factory.close()
        store = try temporary.factory.store()
        #expect(try store.access(archiveWithKey: "empty") == Empty())
        #expect(try store.count() == 1)
        #expect(try store.delete(archiveWithKey: "empty"))
        #expect(try !store.contains(archiveWithKey: "empty"))
    }

    @Test(arguments: [
        (Float.nan, Double.nan), (.infinity, -.infinity), (-.infinity, .infinity),
        (-0.0, 0.1 + 0.2), (.leastNonzeroMagnitude, .ulpOfOne),
        (.greatestFiniteMagnitude, .greatestFiniteMagnitude),
    ])
    func numbersComeBackAsTheyWere(float: Float, double: Double) throws {
        let found = try roundTrip(Reading(float: float, double: double, date: .distantPast))

        #expect(found.float == float || (found.float.isNaN && float.isNaN))
        #expect(found.float.sign == float.sign || float.isNaN)
        #expect(found.double == double || (found.double.isNaN && double.isNaN))
    }

    @Test(
        arguments: [0, 0.1, 1e-9, -1e-300, 781_234_567.123456789, 1 / 3, .pi * 1e9, 63_113_904_000]
            as [Double]
    )
    func datesAreDecodedExactly(seconds: Double) throws {
        let date = Date(timeIntervalSinceReferenceDate: seconds)

        let found = try roundTrip(Reading(float: 0, double: 0, date: date))

        #expect(
            found.date.timeIntervalSinceReferenceDate.bitPattern
                == date.timeIntervalSinceReferenceDate.bitPattern
        )
    }

    private func roundTrip(_ reading: Reading) throws -> Reading {
        let store = try temporary.factory.store(for: Reading.self)
        try store.record(reading)
        store.trimMemory(to: .zero)
        return try #require(try store.access(archiveWithKey: "reading"))
    }

    @Test func anEnumCanBeRecorded() throws {
        let store = try temporary.factory.store(for: Level.self)
        try store.record(contentsOf: [.low, .high])
        store.trimMemory(to: .zero)

        #expect(try store.accessAll() == [.high, .low])
    }
}
