import Foundation
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

@testable import VellumEngine

/// The page on which processes announce changes. Garbage on it makes a reader drop its cache, and
/// nothing worse.
@Suite(.ownThreads)
final class ChangePageTests {
    private let memory: UnsafeMutableRawPointer
    private let page: ChangePage

    init() {
        memory = .allocate(byteCount: ChangePage.size, alignment: 4096)
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: ChangePage.size)
        page = ChangePage(memory)
        page.reset(first: 1000)
    }

    deinit { memory.deallocate() }

    @discardableResult
    private func announce(_ archive: Int64, _ keys: [UInt64]?, by author: UInt32 = 1) -> OwnChange {
        let announced = page.announce(
            [.init(archive: archive, keys: .keys(keys, orAll: .written))],
            by: author,
            of: 1
        )
        page.finish(announced.last)
        return announced.changes[0]
    }

    private func received(_ archive: Int64, after old: UInt64, by author: UInt32 = 2) -> ChangedKeys
    {
        page.changes(
            of: archive,
            after: old,
            through: page.generation(of: archive).value,
            notBy: author
        )
    }

    @Test func changesAreVisibleToOthersButNotToTheirAuthor() {
        let before = page.generation(of: 3).value
        announce(3, [11, 12])
        announce(4, [13])
        #expect(received(3, after: before) == .keys([12, 11]))
        #expect(received(3, after: before, by: 1) == .keys([]))
        #expect(received(4, after: before) == .keys([13]))
        #expect(received(5, after: before) == .keys([]))
    }

    @Test func archivesThatShareASlotDoNotSeeEachOthersChanges() {
        let before = page.generation(of: 3).value
        announce(3, [11])
        announce(3 + Int64(ChangePage.generations), [12])
        #expect(received(3, after: before) == .keys([11]))
    }

    @Test func aChangeOfEverythingIsReportedAsEverything() {
        let before = page.generation(of: 3).value
        announce(3, nil)
        #expect(received(3, after: before) == ChangedKeys(all: .written))
        #expect(received(3, after: before, by: 1) == .keys([]))
    }

    @Test func changesOfOtherArchivesDoNotDisplaceThoseOfThisOne() {
        let before = page.generation(of: 3).value
        for number in 0..<(ChangePage.capacity - 1) { announce(4, [UInt64(number)]) }
        announce(3, [11])
        #expect(received(3, after: before) == .keys([11]))
    }

    /// Of each kind, of single keys and of all.
    @Test(arguments: ChangeKind.allCases, [false, true]) func theKindOfAChangeIsReceived(
        _ kind: ChangeKind,
        ofAll: Bool
    ) {
        let before = page.generation(of: 3).value
        let changes = ofAll ? ChangedKeys(all: kind) : .keys([11], kind)
        _ = page.announce([.init(archive: 3, keys: changes)], by: 1, of: 1)
        #expect(received(3, after: before) == changes)
    }

    @Test(arguments: [5, 255]) func aKindOfALaterVersionIsAnyChangeOfAllKeys(_ kind: UInt64) {
        let before = page.generation(of: 3).value
        announce(3, [11])
        let origin = memory + 4096 + Int(page.now.announced % UInt64(ChangePage.capacity)) * 32 + 24
        origin.storeBytes(of: origin.load(as: UInt64.self) | kind << 56, as: UInt64.self)
        #expect(received(3, after: before) == .unknown)
    }

    /// The archive has 24 bits: a reader may take another archive's change for its own, and only
    /// forgets what it has.
    @Test func aGreatNumberOfAnArchiveIsReceived() {
        let before = page.generation(of: 1 << 40 | 3).value
        announce(1 << 40 | 3, [11])
        #expect(received(1 << 40 | 3, after: before) == .keys([11]))
    }

    @Test func aReaderTooFarBehindDropsEverything() {
        let before = page.generation(of: 3).value
        for number in 0..<(ChangePage.capacity + 1) { announce(3, [UInt64(number)]) }
        #expect(received(3, after: before) == .unknown)
    }

    @Test func anAnnouncedKeyIsChangingUntilTheChangeIsFinished() {
        let announced = page.announce(
            [
                .init(archive: 3, keys: .keys([11])),
                .init(archive: 4, keys: ChangedKeys(all: .written)),
            ],
            by: 1,
            of: 42
        )
        #expect(page.isChanging(11, of: 3, notBy: 2))
        #expect(!page.isChanging(12, of: 3, notBy: 2))
        #expect(!page.isChanging(11, of: 3, notBy: 1))
        #expect(page.isChanging(99, of: 4, notBy: 2))
        page.finish(announced.last)
        #expect(!page.isChanging(11, of: 3, notBy: 2))
        #expect(!page.isChanging(99, of: 4, notBy: 2))
    }

    /// A writer that died during its write.
    @Test func theNextWriterFinishesTheChangeOfADeadWriter() {
        _ = page.announce([.init(archive: 3, keys: .keys([11]))], by: 1, of: 1)
        let next = page.announce([.init(archive: 3, keys: .keys([12]))], by: 2, of: 2)
        #expect(!page.isChanging(11, of: 3, notBy: 3))
        #expect(page.isChanging(12, of: 3, notBy: 3))
        page.finish(next.last)
        #expect(!page.isChanging(12, of: 3, notBy: 3))
    }

    @Test func aLateFinishDoesNotAffectTheNextAnnouncement() {
        let first = page.announce([.init(archive: 3, keys: .keys([11]))], by: 1, of: 1)
        let second = page.announce([.init(archive: 3, keys: .keys([12]))], by: 2, of: 2)
        page.finish(second.last)
        page.finish(first.last)
        #expect(page.isFinished(second.last))
    }

    // MARK: Up to a number

    /// The numbers are those of all archives. A change that is not finished is left out.
    @Test func changesUpToANumberAreThoseOfTheArchiveThatAreNotLater() {
        let before = page.now.announced
        announce(3, [11])
        announce(4, [21])
        announce(3, [12])
        let finished = page.now.announced
        _ = page.announce(
            [
                .init(archive: 3, keys: .keys([13])),
                .init(archive: 4, keys: ChangedKeys(all: .written)),
            ],
            by: 1,
            of: 42
        )
        #expect(
            page.now
                == ChangePage.Moment(announced: finished + 2, finished: finished, isRetired: false)
        )
        for archive: Int64 in [3, 4, 5] {
            let expected: [UInt64] = archive == 3 ? [12, 11] : archive == 4 ? [21] : []
            #expect(
                page.changes(of: archive, numberedAfter: before, through: finished)
                    == .keys(expected)
            )
            #expect(
                page.changes(of: archive, numberedAfter: finished, through: finished) == .keys([])
            )
        }
        #expect(page.changes(of: 3, numberedAfter: before + 1, through: finished) == .keys([12]))
        #expect(page.changes(of: 3, numberedAfter: finished, through: finished + 2) == .keys([13]))
        #expect(
            page.changes(of: 4, numberedAfter: finished, through: finished + 2)
                == ChangedKeys(all: .written)
        )
    }

    /// One that fell behind, or whose page was begun anew.
    @Test func changesThatAreNotOnThePageAnyMoreAreEverything() {
        let before = page.now.announced
        for number in 0...ChangePage.capacity { announce(3, [UInt64(number)]) }
        #expect(page.changes(of: 3, numberedAfter: before, through: page.now.announced) == .unknown)
        let after = page.now.announced
        for first: UInt64 in [after + 1_000_000, 5] {
            page.reset(first: first)
            #expect(
                page.changes(of: 3, numberedAfter: after, through: page.now.announced) == .unknown
            )
        }
    }

    @Test func aRetiredPageMakesEveryReaderReopenIt() {
        let before = page.generation(of: 3).value
        page.retire()
        #expect(page.isRetired)
        #expect(page.generation(of: 3).value != before)
        #expect(received(3, after: before) == .unknown)
    }

    @Test func aResetPageMakesEveryReaderDropItsCache() {
        announce(3, [11])
        let before = page.generation(of: 3).value
        page.reset(first: 5000)
        #expect(page.isIntact)
        #expect(received(3, after: before) == .unknown)
    }

    // MARK: Waiting

    private var isSomebodyWaiting: Bool { memory.load(fromByteOffset: 64, as: UInt64.self) != 0 }

    /// The first change clears what it left.
    @Test func aWaiterThatWasKilledCostsOneWake() {
        _ = page.beginWaiting()
        #expect(isSomebodyWaiting)
        announce(3, [11])
        #expect(!isSomebodyWaiting)
        _ = page.beginWaiting()
        page.retire()
        #expect(!isSomebodyWaiting)
    }

    /// Otherwise this test never ends.
    @Test func noChangeFallsBetweenTheLookAndTheWait() {
        let moment = page.beginWaiting()
        announce(3, [11])
        page.wait(milliseconds: 3_600_000)
        #expect(page.beginWaiting() != moment)
    }

    @Test func aThreadThatWaitsIsWoken() {
        let page = page
        let moment = page.beginWaiting()
        let waiting = OnThread {
            var now = moment
            while now == moment {
                page.wait(milliseconds: 3_600_000)
                now = page.beginWaiting()
            }
        }
        announce(3, [11])
        waiting.result()
    }

    /// P36: whatever the page contains, a reader returns, and returns only hashes that are on the
    /// page.
    @Test(arguments: 0..<LongRun.number(200, usually: 60))
    func garbageMakesAReaderForgetAndNothingElse(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let before = page.generation(of: 3).value
        for number in 0..<50 { announce(Int64(number % 5), [UInt64(number)]) }
        let garbage = UnsafeMutableRawBufferPointer(start: memory, count: ChangePage.size)
        for _ in 0..<Int.random(in: 1...2000, using: &random) {
            garbage[Int.random(in: 0..<ChangePage.size, using: &random)] = .random(
                in: .min ... .max,
                using: &random
            )
        }
        #expect(received(3, after: before).single.count <= ChangePage.capacity, "seed \(seed)")
        _ = page.isChanging(1, of: 3, notBy: 2)
        _ = page.isIntact
        announce(3, [77], by: 9)
        page.reset()
        #expect(page.isIntact)
    }
}
