import Foundation
import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

/// Loads that writes overtake, of their key or of very many others (decision 75).
@Suite(.ownThreads)
struct OvertakenLoadTests {
    let setup: LoadingSetup
    let source = NumberedSource()
    var store: Store<String> { setup.store }

    init() throws { setup = try LoadingSetup() }

    private func ask() -> Task<String, any Error> {
        Task { [store, source] in try await store.value(forKey: "a") { try await source.text() } }
    }

    // MARK: Two loaders

    /// A hundred readers, one after every tenth removal.
    @Test func atMostTwoLoadersOfAKeyRunAndEverybodyIsAnswered() async throws {
        var readers: [Task<String, any Error>] = []
        for step in 0..<1000 {
            try store.remove("a")
            guard step % 10 == 9 else { continue }
            readers.append(ask())
            await source.waitForCall(readers.count)
            #expect(source.open == Array(max(1, readers.count - 1)...readers.count))
            #expect(store.loads.count <= 2 && store.loads.waiterCount == readers.count)
            store.loads.checkInvariants()
        }
        #expect(source.cancelled == Set(1...98))
        source.answer(99, "overtaken")
        source.answer(100, "new")
        // Of three loads the first ends, and its readers wait for the third.
        for (number, reader) in readers.enumerated() {
            #expect(
                try await reader.value == (number.isMultiple(of: 2) ? "overtaken" : "new"),
                "\(number)"
            )
        }
        #expect(try store.value(forKey: "a") == "new")
        await until("no key is watched") { store.memory.isWatchingNothing }
    }

    /// One that ignores its cancellation keeps nobody waiting, and stores nothing.
    @Test func anEndedLoadThatGoesOnStoresNothing() async throws {
        let source = NumberedSource(ignoresCancellation: true)
        var tasks: [Task<String, any Error>] = []
        for number in 1...3 {
            if number > 1 { try store.remove("a") }
            tasks.append(
                Task { [store] in try await store.value(forKey: "a") { try await source.text() } }
            )
            await source.waitForCall(number)
        }
        #expect(source.cancelled == [1] && store.loads.count == 2)
        let finished = store.loads.finishedCount
        source.answer(1, "first")
        source.answer(2, "second")
        #expect(try await tasks[1].value == "second")
        await until("the first two loads are over") { store.loads.finishedCount == finished + 2 }
        #expect(try store.value(forKey: "a") == nil)
        source.answer(3, "third")
        for number in [0, 2] { #expect(try await tasks[number].value == "third") }
        #expect(try store.value(forKey: "a") == "third")
    }

    // MARK: A removal that takes a while

    /// The prefix is announced at the beginning, and again at the end.
    @Test func aLoadThatBeginsDuringARemovalByPrefixStoresNothing() async throws {
        try store.record("other", forKey: "about")
        let (isListing, hasBegun) = (Flag(), Flag())
        let removal = OnThread { [store] in
            Result {
                try store.removeAll(prefix: "a") { _ in
                    isListing.set()
                    blockUntil("the load has begun") { hasBegun.isSet }
                    return true
                }
            }
        }
        await until("the removal has begun") { isListing.isSet }
        let reader = ask()
        await source.waitForCall()
        hasBegun.set()
        #expect(try await Lane.visits.run { try removal.result().get() } == 1)
        source.answer(1, "loaded")
        #expect(try await reader.value == "loaded")
        #expect(try store.value(forKey: "a") == nil)
    }

    // MARK: Changes of many other keys

    /// What another process does while a load of the key runs, of whose page only the last 4096
    /// changes are left.
    enum Neighbour: CaseIterable, Sendable {
        /// It writes 100,000 other keys (20,000 in most runs), each in a commit of its own.
        case writesOneByOne
        /// It writes as many in one commit, which announces a change of all.
        case writesAtOnce
        case evictsAtOnce, removesAtOnce, removesPrefixesAtOnce
        /// One of them is the key.
        case writesTheKeyFirst, writesTheKeyAtOnce
    }

    struct Busy: Sendable, CustomStringConvertible {
        var neighbour: Neighbour
        /// Whether there is an expired row when the load begins.
        var hasRow: Bool
        /// Whether this process reads other keys meanwhile, and so follows the page.
        var isRead: Bool

        var description: String {
            """
            \(neighbour), \(hasRow ? "an expired row" : "no row"), \
            \(isRead ? "memory is used" : "memory is not used")
            """
        }

        static let all = Neighbour.allCases.flatMap { neighbour in
            [true, false].flatMap { hasRow in
                [true, false].map { Busy(neighbour: neighbour, hasRow: hasRow, isRead: $0) }
            }
        }

        var isStored: Bool {
            switch neighbour {
            // Decision 75: "A process that fell behind and saw no row declines the fill, because a
            // removal of nothing leaves no trace."
            case .writesOneByOne: hasRow || isRead
            case .writesAtOnce, .evictsAtOnce: true
            case .removesAtOnce, .removesPrefixesAtOnce, .writesTheKeyFirst, .writesTheKeyAtOnce:
                false
            }
        }
    }

    @Test(arguments: Busy.all) func aBusyNeighbourDeclinesOnlyWhatItMayHaveWritten(
        _ busy: Busy
    ) async throws {
        if busy.hasRow {
            try store.record("old", forKey: "a", expiration: .after(.seconds(10)))
            setup.clock.advance(by: .seconds(20))
        }
        let reader = ask()
        await source.waitForCall()
        try disturb(busy)
        source.answer(1, "loaded")
        #expect(try await reader.value == "loaded")
        let expected =
            busy.neighbour == .writesTheKeyFirst || busy.neighbour == .writesTheKeyAtOnce
            ? "theirs" : nil
        #expect(try store.value(forKey: "a") == (busy.isStored ? "loaded" : expected))
    }

    private func disturb(_ busy: Busy) throws {
        let (count, archive) = (LongRun.number(100_000, usually: 20_000), setup.disk.archive.id)
        let page = try ChangesFile(besides: setup.disk.file.path)
        func announce(_ keys: ChangedKeys) {
            page.page.finish(
                page.page.announce(
                    [.init(archive: archive, keys: keys)],
                    by: page.author,
                    of: page.process
                ).last
            )
        }
        // A write of the row that announces itself as one of another process.
        func writeTheKey() throws {
            try ArchiveHarness(setup.disk, clock: setup.clock, isDelegate: false).store(
                Array("\"theirs\"".utf8),
                "a"
            )
        }
        func announceAtOnce(_ kind: ChangeKind) {
            announce(
                (0..<count).reduce(into: ChangedKeys()) {
                    $0.insert(.init(UInt64($1), kind), most: ChangePage.mostKeys)
                }
            )
            if busy.isRead { _ = store.memory.peek("b") }
        }
        switch busy.neighbour {
        case .writesOneByOne, .writesTheKeyFirst:
            if busy.neighbour == .writesTheKeyFirst {
                try writeTheKey()
                announce(.keys([setup.disk.changes.hash.of("a")]))
            }
            for number in 0..<(busy.neighbour == .writesOneByOne ? count : 2 * ChangePage.capacity)
            {
                announce(.keys([UInt64(number)]))
                if busy.isRead, number.isMultiple(of: 1000) { _ = store.memory.peek("b") }
            }
        case .writesAtOnce: announceAtOnce(.written)
        case .writesTheKeyAtOnce:
            try writeTheKey()
            announceAtOnce(.written)
        case .evictsAtOnce: announceAtOnce(.evicted)
        case .removesAtOnce: announceAtOnce(.removed)
        case .removesPrefixesAtOnce: announceAtOnce(.prefixRemoved)
        }
    }
}
