import TestThreads
import Testing
import VellumEngine
import VellumTestSupport

@testable import Vellum

/// How long an archive keeps expired objects for loads that accept old ones. Ages are 100 seconds,
/// and objects are kept for 50 more.
@Suite(.ownThreads)
struct ArchiveKeptExpiredTests {
    struct Page: ArchiveCodable, Equatable {
        var primaryKey = "a"
        var text = "old"
    }

    private struct SourceDown: Error {}

    let clock = ManualClock()
    let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func factory(_ durability: Durability = .crashSafe) -> ArchivesFactory {
        ArchivesFactory(directory: folder.url, durability: durability, clock: clock.wallClock)
    }

    private func sweep(_ factory: ArchivesFactory) throws {
        try #require(factory.openedFile).sweepEverything()
    }

    @Test(arguments: KeptCell.all) func whatHasExpiredIsThereForAFailingLoader(
        _ cell: KeptCell
    ) async throws {
        var factory = factory(cell.durability)
        let handlesAge = cell.hasOwnAge ? nil : Expiration.after(.seconds(100))
        var pages: ArchiveStore<Page> = try factory.store(
            expiration: handlesAge,
            keepExpiredFor: .seconds(50)
        )
        let age = cell.hasOwnAge ? Expiration.after(.seconds(100)) : nil
        switch cell.write {
        case .set: try pages.record(Page(), expiration: age)
        case .setIfAbsent: #expect(try pages.recordIfAbsent(Page(), expiration: age))
        case .update: try pages.update(archiveWithKey: "a", expiration: age) { $0 = Page() }
        case .load: _ = try await pages.load("a", options: LoadOptions(expiration: age)) { Page() }
        }
        if cell.isReopened {
            try factory.close()
            factory = self.factory(cell.durability)
            pages = try factory.store(expiration: handlesAge)
        }
        clock.advance(by: .seconds(149))
        try sweep(factory)
        let old = try await pages.load("a", staleIfError: .seconds(50)) { () async throws -> Page in
            throw SourceDown()
        }
        #expect(old == Loaded(Page(), .staleIfError))
        clock.advance(by: .seconds(1))
        try sweep(factory)
        #expect(try pages.count() == 0)
    }

    /// The methods that do not throw, a transaction, and an archive that is open already.
    @Test func aLaterOpeningMayAskForMore() throws {
        let factory = factory()
        let pages: ArchiveManager<Page> = try factory.archives(expiration: .after(.seconds(100)))
        try factory.transaction { try $0.record(Page(), in: pages.store) }
        _ = try factory.archives(for: Page.self, keepExpiredFor: .seconds(50))
        _ = try factory.archives(for: Page.self, keepExpiredFor: .seconds(20))
        clock.advance(by: .seconds(149))
        try sweep(factory)
        #expect(try pages.store.count() == 1)
        clock.advance(by: .seconds(1))
        try sweep(factory)
        #expect(try pages.store.count() == 0)
    }

    /// What an earlier program has said ends after a week. An object without an age has none then,
    /// either.
    @Test func whatNeverExpiresOutlivesTheProgramThatKeptWhatHas() throws {
        let before = factory()
        let pages: ArchiveStore<Page> = try before.store(keepExpiredFor: .seconds(50))
        try pages.record(Page())
        try before.close()
        clock.advance(by: .seconds(86_400 * 8))
        let after = factory()
        let same: ArchiveStore<Page> = try after.store()
        try sweep(after)
        #expect(try same.access(archiveWithKey: "a") == Page())
        clock.advance(by: .seconds(86_400 * 8))
        try sweep(after)
        #expect(try same.access(archiveWithKey: "a") == Page())
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min)])
    func nothingIsKeptForNoTime(_ window: Duration) throws {
        let factory = factory()
        let pages: ArchiveStore<Page> = try factory.store(
            expiration: .after(.seconds(100)),
            keepExpiredFor: window
        )
        try pages.record(Page())
        clock.advance(by: .seconds(100))
        try sweep(factory)
        #expect(try pages.count() == 0)
    }
}
