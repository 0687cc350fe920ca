import TestThreads
import Testing
import Vellum
import VellumTestSupport

/// The table of the guide "Loading", for archives.
@Suite(.ownThreads)
struct ArchiveLoadingTableTests {
    struct Page: ArchiveCodable, Equatable {
        var primaryKey = "a"
        var text: String
    }

    private struct Subject: LoadingSubject {
        let clock: ManualClock
        let pages: ArchiveStore<Page>

        func load(
            whileRevalidate: Duration,
            ifError: Duration,
            options: LoadOptions,
            _ loader: @escaping @Sendable (String?) async throws -> LoadResult<String>
        ) async throws -> Loaded<String?> {
            let answer = try await pages.load(
                "a",
                staleWhileRevalidate: whileRevalidate,
                staleIfError: ifError,
                options: options
            ) {
                previous in
                switch try await loader(previous?.text) {
                case .value(let text, let age): .value(Page(text: text), maxAge: age)
                case .unchanged(let age): .unchanged(maxAge: age)
                case .none(let age): .none(maxAge: age)
                }
            }
            return Loaded(answer.value?.text, answer.source)
        }

        func stored() throws -> String? { try pages.access(archiveWithKey: "a")?.text }
    }

    @Test(arguments: LoadingCell.all) func eachCellIsAsTheTableSays(
        _ cell: LoadingCell
    ) async throws {
        let (clock, folder) = (ManualClock(), try TemporaryDirectory())
        let factory = ArchivesFactory(directory: folder.url, clock: clock.wallClock)
        let result = try await cell.run(on: Subject(clock: clock, pages: try factory.store()))
        #expect(result == cell.expected)
    }
}
