import Foundation
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

/// Whom each change is told to, whatever it comes from: a transaction, memory, the clock, or another process.
@Suite(.timeLimit(.minutes(1)))
struct ToldTests {
    private let setup: Setup

    init() throws { setup = try Setup() }

    enum Source: CaseIterable, Sendable {
        case write, relaxedWrite, removal, removalOfNothing, removalOfAll, memoryOnlyWrite, overwriteOfMemoryOnly
        case evictionFromMemory, endOfAnAge, otherProcess, otherProcessOfAllKeys, stateOfTheFile

        /// Whether it concerns an observer of another key of the archive.
        var concernsOtherKeys: Bool { [.removalOfAll, .otherProcessOfAllKeys, .stateOfTheFile].contains(self) }
    }

    /// What must be there before.
    private func prepare(_ source: Source, _ store: Store<Data>) throws {
        switch source {
        case .removal: try store.record(Data(1, count: 10), forKey: "a")
        case .overwriteOfMemoryOnly, .evictionFromMemory: try store.record(Data(1, count: 2000), forKey: "a")
        default: break
        }
    }

    private func change(_ source: Source, _ store: Store<Data>, _ observer: ChangeObserver) async throws {
        let file = store.disk.file
        let page = file.location.changesFile.page
        let hash = store.disk.changes.hash.of("a")
        switch source {
        case .write, .relaxedWrite, .overwriteOfMemoryOnly: try store.record(Data(2, count: 10), forKey: "a")
        case .removal, .removalOfNothing: try store.remove("a")
        case .removalOfAll: try store.removeAll()
        case .memoryOnlyWrite: try store.record(Data(2, count: 2000), forKey: "a")
        case .evictionFromMemory: for key: EntryKey in ["c", "d"] { try store.record(Data(2, count: 2000), forKey: key) }
        case .endOfAnAge:
            let end = setup.clock.now.advanced(byMilliseconds: 1000)
            observer.tellOfEnd(hash, at: end, by: setup.clock.wallClock)
            await setup.clock.waitForSleeper(until: end)
            setup.clock.advance(by: .seconds(1))
        case .otherProcess, .otherProcessOfAllKeys:
            let keys = ChangedKeys.keys(source == .otherProcess ? [hash] : nil, orAll: .written)
            page.finish(page.announce([.init(archive: store.disk.archive.id, keys: keys)], by: 77, of: 1).last)
        case .stateOfTheFile:
            try file.suspend()
            try file.resume()
        }
    }

    @Test(arguments: Source.allCases) func aChangeIsToldToThoseWhomItConcerns(_ source: Source) async throws {
        // Memory has two large values alone.
        let store = try setup.store(memory: 5000, disk: 1000, durability: source == .relaxedWrite ? .relaxed : .crashSafe)
        let other = try setup.store("other")
        try prepare(source, store)
        let observers = ["a", "b"].map { store.observer(of: $0) } + [store.observer(), other.observer(of: "a"), other.observer()]
        let last = other.observer(of: "last")
        defer { for observer in observers + [last] { observer.stop() } }
        for observer in observers + [last] { observer.begin() }
        try await change(source, store, observers[0])
        let concerned = [true, source.concernsOtherKeys, true, source == .stateOfTheFile, source == .stateOfTheFile]
        for (observer, isConcerned) in zip(observers, concerned) where isConcerned { #expect(await observer.wait()) }
        // Whoever is told in a later turn was not forgotten in an earlier one.
        try other.record(Data(), forKey: "last")
        #expect(await last.wait())
        let heard = observers.map(\.isDirty)
        #expect(heard[..<4] == concerned[..<4], "\(heard)")
    }
}
