import Foundation
import TestThreads
import Testing
import Vellum

/// Types that have changed since their objects were recorded. (P44)
@Suite(.ownThreads)
struct ArchivableChangeTests {
    enum Yesterday {
        struct Account: ArchiveCodable {
            static var archiveName: String { "Account" }
            var primaryKey: String
            var nickname = "old"
        }

        enum Colour: String, Codable { case red }
        struct Paint: ArchiveCodable {
            static var archiveName: String { "Paint" }
            var primaryKey: String
            var colour = Colour.red
        }
    }

    enum Today {
        struct Account: ArchiveCodable {
            static var archiveName: String { "Account" }
            var primaryKey: String
            var nickname: String
            var email: String?
        }

        enum Colour: String, Codable { case red, blue }
        struct Paint: ArchiveCodable {
            static var archiveName: String { "Paint" }
            var primaryKey: String
            var colour = Colour.red
        }
    }

    let temporary = TemporaryArchives()

    @Test func aNewOptionalPropertyIsNil() throws {
        try temporary.factory.store(for: Yesterday.Account.self).record(
            Yesterday.Account(primaryKey: "ann")
        )
        try temporary.factory.close()

        let account = try #require(
            try temporary.factory.store(for: Today.Account.self).access(archiveWithKey: "ann")
        )

        #expect((account.nickname, account.email) == ("old", nil))
    }

    @Test func anObjectWithAnUnknownCaseIsReportedAndLeftOut() async throws {
        let newer = try temporary.factory.store(for: Today.Paint.self)
        for (key, colour) in [("a", Today.Colour.red), ("b", .blue), ("c", .red)] {
            try newer.record(Today.Paint(primaryKey: key, colour: colour))
        }
        try temporary.factory.close()
        let older = try temporary.factory.store(for: Yesterday.Paint.self)
        let events = older.events

        #expect(try older.accessAll(undecodable: .skip).map(\.primaryKey) == ["c", "a"])
        for await case .damagedEntry(let key, let error) in events {
            #expect((key, error.code) == ("b", .notDecodable))
            break
        }
        let error = #expect(throws: VellumError.self) { _ = try older.access(archiveWithKey: "b") }
        #expect(error?.code == .notDecodable)
        #expect(error?.message.contains("such as a case that was removed") == true)

        // The object is still stored: a type with the case can decode it.
        try temporary.factory.close()
        #expect(
            try temporary.factory.store(for: Today.Paint.self).access(archiveWithKey: "b")?.colour
                == .blue
        )
    }

    @Test func twoTypesCannotShareAnOpenArchive() throws {
        let newer = try temporary.factory.store(for: Today.Paint.self)
        try newer.record(Today.Paint(primaryKey: "a"))

        for face in [true, false] {
            let error = #expect(throws: VellumError.self) {
                if face { _ = try temporary.factory.store(for: Yesterday.Paint.self) }
                _ = try temporary.factory.archives(for: Yesterday.Paint.self)
            }
            #expect(error?.code == .contradiction)
        }
        #expect(try newer.count() == 1)
    }
}
