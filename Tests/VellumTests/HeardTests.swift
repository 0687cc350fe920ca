import Foundation
import TestThreads
import Testing
import VellumTestSupport

@testable import Vellum
@testable import VellumCore
@testable import VellumEngine

/// Every write is heard: the table of decision 75, for archives.
@Suite(.ownThreads)
struct ArchiveHeardTests {
    struct Page: ArchiveCodable, Equatable {
        static let archiveName = "pages"
        var primaryKey = HeardCell.key
        var text: String
    }

    private final class Subject: HeardSubject {
        let clock = ManualClock()
        private let folder: TemporaryDirectory
        private let factory: ArchivesFactory
        private let pages: ArchiveStore<Page>
        /// The factory of the others, until the end of the test.
        private let other = Locked<ArchivesFactory?>(nil)

        init() throws {
            folder = try TemporaryDirectory()
            factory = ArchivesFactory(directory: folder.url, clock: clock.wallClock)
            pages = try factory.store()
            // Expired objects stay, so that no test depends on when they are swept.
            try pages.store.setRetention(.never, staleWindow: .seconds(86_400))
        }

        var runningLoads: Int { pages.store.loads.count }
        var waiters: Int { pages.store.loads.waiterCount }

        func load(
            whileRevalidate: Duration,
            ifError: Duration,
            options: LoadOptions,
            _ loader: @escaping @Sendable (String?) async throws -> LoadResult<String>
        ) async throws -> Loaded<String?> {
            let answer = try await pages.load(
                HeardCell.key,
                staleWhileRevalidate: whileRevalidate,
                staleIfError: ifError,
                options: options
            ) { previous in
                switch try await loader(previous?.text) {
                case .value(let text, let age): .value(Page(text: text), maxAge: age)
                case .unchanged(let age): .unchanged(maxAge: age)
                case .none(let age): .none(maxAge: age)
                }
            }
            return Loaded(answer.value?.text, answer.source)
        }

        func stored() throws -> String? {
            let inMemory = try pages.access(archiveWithKey: HeardCell.key)?.text
            pages.trimMemory(to: .zero)
            let onDisk = try pages.access(archiveWithKey: HeardCell.key)?.text
            return inMemory == onDisk
                ? onDisk : "\(inMemory ?? "nothing") in memory, \(onDisk ?? "nothing") on disk"
        }

        func set(_ text: String) throws { try pages.record(Page(text: text)) }

        func setUndecodable() throws {
            try ArchiveHarness(pages.store.disk, clock: clock, isDelegate: false).store(
                Array("{".utf8),
                EntryKey(HeardCell.key)
            )
        }

        func observe(all: Bool) -> () async throws -> String? {
            if all {
                var answers = pages.observe().makeAsyncIterator()
                return {
                    let answer = try await answers.next(isolation: #isolation)
                    return try #require(answer).first?.text
                }
            }
            var answers = pages.observe(archiveWithKey: HeardCell.key).makeAsyncIterator()
            return {
                let answer = try await answers.next(isolation: #isolation)
                return try #require(answer)?.text
            }
        }

        func reset() throws { try pages.deleteAll() }

        private func factory(_ origin: HeardCell.Origin) throws -> ArchivesFactory {
            if origin == .sameHandle { return factory }
            if let other = other.withLock({ $0 }) { return other }
            if origin == .otherProcess { DatabaseFile.openSeparately(at: factory.fileURL) }
            let new = ArchivesFactory(directory: folder.url, clock: clock.wallClock)
            other.withLock { $0 = new }
            return new
        }

        func write(_ write: HeardCell.Write, from origin: HeardCell.Origin) async throws {
            let factory = try factory(origin)
            if write == .drop {
                #expect(try factory.drop(archiveNamed: Page.archiveName) || pages.count() == 0)
                return
            }
            let pages = origin == .sameHandle ? pages : try factory.store(for: Page.self)
            let (key, new) = (HeardCell.key, Page(text: "written"))
            switch write {
            case .set: try pages.record(new)
            case .setExpired: try pages.record(new, expiration: .after(.zero))
            case .setMany: try pages.record(contentsOf: [new])
            case .setIfAbsent: try pages.recordIfAbsent(new)
            case .update: try pages.update(archiveWithKey: key) { $0 = new }
            case .transactionSet: try factory.transaction { try $0.record(new, in: pages) }
            case .loadElsewhere: _ = try await pages.value(forKey: key) { new }
            case .remove: try pages.delete(archiveWithKey: key)
            case .removeMany: try pages.delete(allKeys: [key])
            case .updateToNil: try pages.update(archiveWithKey: key) { $0 = nil }
            case .transactionRemove:
                try factory.transaction { $0.delete(archiveWithKey: key, in: pages) }
            case .transactionRemoveAll: try factory.transaction { $0.deleteAll(in: pages) }
            case .removeAll: try pages.deleteAll()
            case .removePrefix: try pages.deleteAll(prefix: HeardCell.prefix)
            case .removeEmptyPrefix: try pages.deleteAll(prefix: "")
            case .removeWhere: try pages.deleteAll(where: #Predicate { $0.primaryKey == key })
            case .removeUndecodable: #expect(try pages.deleteUndecodable() == 1)
            case .removeUnused: try pages.deleteAll(lastUsedBefore: clock.now.date + 1)
            case .expire:
                try ArchiveHarness(pages.store.disk, clock: clock, isDelegate: false).write(
                    EntryKey(key),
                    .removeExpired
                )
            case .subscriptSet, .subscriptNil, .clearAll, .removeGroup, .drop, .otherVersion:
                Issue.record("Archives have no \(write).")
            }
        }
    }

    private static let rows = HeardCell.rows(of: [
        .set, .setExpired, .setMany, .setIfAbsent, .update, .transactionSet, .loadElsewhere,
        .remove, .removeMany, .updateToNil,
        .transactionRemove,
        .transactionRemoveAll, .removeAll, .removePrefix, .removeEmptyPrefix, .removeWhere,
        .removeUndecodable, .drop, .removeUnused,
        .expire,
    ])

    @Test(arguments: rows) func everyWriteIsHeard(_ row: HeardCell.Row) async throws {
        let subject = try Subject()
        for cell in row.cells { #expect(await cell.run(on: subject) == cell.expected, "\(cell)") }
    }
}

extension DatabaseFile {
    /// Lets the next opening of the file share nothing with this one but the file, as that of
    /// another process does.
    static func openSeparately(at url: URL) {
        if let file = opened(at: url) { FileRegistry.shared.remove(file) }
    }
}
