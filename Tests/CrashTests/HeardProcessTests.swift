import CrashScript
import Foundation
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// Every write is heard (decision 75): a sample of the cells of `ArchiveHeardTests`, in two
/// processes.
@Suite(.ownThreads)
struct HeardProcessTests {
    /// What the other process does, and the version of the item that is there in the end if nothing
    /// else is stored.
    enum Write: String, CaseIterable, Sendable {
        case put = "put safe user:42:k 7"
        case delete = "delete safe user:42:k"
        case clear = "clear safe *"
        case prefix = "prefix safe user:42:"
        case group = "group safe user:42"

        var left: Int? { self == .put ? 7 : nil }
    }

    private let folder: TemporaryDirectory
    private let archives: SharedArchives
    private let other: Spawned
    private let source = NumberedSource()

    init() throws {
        folder = try TemporaryDirectory()
        archives = try SharedArchives(in: folder.url.path)
        other = try Spawned(["obey", folder.url.path])
        try archives.store(.safe).setRetention(.never, staleWindow: .seconds(86_400))
    }

    private static func item(_ version: Int, _ archive: ScriptArchive = .safe) -> Item {
        Item(archive: archive, key: "user:42:k", version: version, filling: 50)
    }

    /// Asks for the item, whose loader returns one of the version that the test answers with.
    private func ask(
        _ archive: ScriptArchive = .safe,
        ifError: Duration = .zero,
        errorMaxAge: Duration? = nil
    ) throws -> Task<Int?, any Error> {
        var request = try LoadRequest<Item>(
            key: "user:42:k",
            under: .never,
            staleness: Staleness(whileRevalidate: .zero, ifError: ifError),
            options: LoadOptions(errorMaxAge: errorMaxAge),
            loader: .plain { [source] in Self.item(Int(try await source.text()) ?? 0, archive) }
        )
        request.groups = ["user:42"]
        return Task { [request, store = try archives.store(archive)] in
            try await store.load(request, hasLooked: false).value?.version
        }
    }

    private func carryOut(_ write: Write) {
        let answer = other.ask(write.rawValue)
        #expect(
            write == .prefix || write == .group ? answer.flatMap(Int.init) != nil : answer == "done"
        )
    }

    @Test(arguments: Write.allCases) func aLoadThatRunsStoresNothing(_ write: Write) async throws {
        let early = try ask()
        await source.waitForCall()
        carryOut(write)
        source.answer(1, "1")
        #expect(try await early.value == 1)
        #expect(try archives.find(.safe, "user:42:k") == write.left)
        #expect(other.ask("read safe user:42:k") == "\(write.left ?? -1)")
        try archives.file.close()
    }

    @Test(arguments: Write.allCases) func whoComesLaterHasWhatIsNew(_ write: Write) async throws {
        let early = try ask()
        await source.waitForCall()
        carryOut(write)
        let late = try ask()
        if write.left == nil {
            await source.waitForCall(2)
            source.answer(2, "2")
        }
        #expect(try await late.value == write.left ?? 2)
        source.answer(1, "1")
        #expect(try await early.value == 1)
        #expect(try archives.find(.safe, "user:42:k") == write.left ?? 2)
        try archives.file.close()
    }

    @Test(arguments: Write.allCases) func aFailureBringsNothingBackAndIsNotRemembered(
        _ write: Write
    ) async throws {
        try archives.put(.safe, "user:42:k", 1, expiration: .after(.zero))
        for number in 1...2 {
            // The second failure would be remembered.
            let call = try ask(
                ifError: number == 1 ? .seconds(3600) : .zero,
                errorMaxAge: .seconds(3600)
            )
            await source.waitForCall(number)
            source.answer(number, .failure(SourceDown()))
            if number == 1 {
                #expect(try await call.value == 1)
            } else {
                await #expect(throws: SourceDown.self) { try await call.value }
            }
            if number == 1 { #expect(other.ask("delete safe user:42:k") == "done") }
        }
        carryOut(write)
        let next = try ask(ifError: .seconds(3600))
        if write.left == nil {
            await source.waitForCall(3)
            source.answer(3, .failure(SourceDown()))
            await #expect(throws: SourceDown.self) { try await next.value }
        } else {
            #expect(try await next.value == write.left)
        }
        try archives.file.close()
    }

    /// Decision 75: "Evictions decline nothing."
    @Test func anEvictionElsewhereDeclinesNothing() async throws {
        let early = try ask(.tight)
        await source.waitForCall()
        #expect(other.ask("crowd tight * 1") == "done")
        source.answer(1, "1")
        #expect(try await early.value == 1)
        #expect(try archives.find(.tight, "user:42:k") == 1)
        try archives.file.close()
    }
}
