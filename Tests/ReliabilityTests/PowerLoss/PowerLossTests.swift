import Foundation
import ScriptedDisk
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// C6: whatever happens to unsynced changes in a power failure, the store opens without repair, and
/// holds the state of some moment that is not earlier than the last guaranteed one.
///
/// `VELLUM_IMAGES=all` opens every disk image; a number opens that many.
@Suite(.ownThreads(.longSuite))
struct PowerLossTests {
    @Test func afterPowerLossAnEarlierStateIsFoundAndNoGuaranteedWriteIsLost() throws {
        let day = try RecordedDay()
        let cuts = Self.cuts(of: day)
        let amount = Amount("VELLUM_IMAGES", usually: LongRun.number(200, usually: 80))
        let chosen = amount.limit < 200 ? Self.few(cuts, amount) : amount.sample(below: cuts.count)
        var moment = DiskMoment()
        var promise = RecordedDay.Promise(newest: 0, oldest: 0)
        var done = 0
        var statesSeen: Set<Int> = []
        for index in chosen {
            let cut = cuts[index]
            Work.images.count()
            while done < cut.point {
                moment.add(day.operations[done])
                if case .mark(let number) = day.operations[done] { promise = day.promises[number] }
                done += 1
            }
            let state = try check(cut, moment, day, promise, withGarbage: index % 2 == 0)
            if let state { statesSeen.insert(state) }
        }
        let least = chosen.count < 200 ? 15 : 20
        #expect(statesSeen.count > least, "The images hold few states: \(statesSeen)")
        if Amount.isFull("VELLUM_IMAGES") {
            let syncs = day.operations.count { if case .sync = $0 { true } else { false } }
            print(
                """
                FIGURES power loss: \(chosen.count) images of \(day.operations.count) operations \
                with \(syncs) syncs,
                """
                    + " \(day.states.count) states of which \(statesSeen.count) were found"
            )
        }
    }

    /// As many of each kind, evenly spread.
    private static func few(_ cuts: [PowerCut], _ amount: Amount) -> [Int] {
        let kinds = Dictionary(grouping: cuts.indices) { index in
            switch cuts[index].kind {
            case .nothing: 0
            case .everything: 1
            case .without: 2
            case .prefix: 3
            case .zeros: 4
            case .random: 5
            }
        }
        let each = Amount(limit: max(1, amount.limit / kinds.count))
        return kinds.values.flatMap { indices in
            each.sample(below: indices.count).map { indices[$0] }
        }.sorted()
    }

    /// Around every sync, at every creation and removal of a name, at every guarantee, and at some
    /// moments in between.
    private static func cuts(of day: RecordedDay) -> [PowerCut] {
        var cuts: [PowerCut] = []
        var moment = DiskMoment()
        for (index, operation) in day.operations.enumerated() {
            let isSync: Bool
            switch operation {
            case .sync, .syncFolder, .create, .delete, .truncate: isSync = true
            case .mark: isSync = false
            case .write: isSync = false
            }
            if isSync || index % 7 == 0 {
                cuts += PowerCut.all(
                    at: index,
                    unsynced: moment.unsynced.count,
                    isSyncPoint: isSync
                )
            }
            moment.add(operation)
            if isSync { cuts.append(PowerCut(point: index + 1, kind: .nothing)) }
            if case .mark = operation {
                cuts += [
                    PowerCut(point: index + 1, kind: .nothing),
                    PowerCut(point: index + 1, kind: .everything),
                ]
            }
        }
        return cuts
    }

    /// - Returns: The state that was found.
    private func check(
        _ cut: PowerCut,
        _ moment: DiskMoment,
        _ day: RecordedDay,
        _ promise: RecordedDay.Promise,
        withGarbage: Bool
    ) throws -> Int? {
        let folder = try FastFolder()
        for (name, bytes) in cut.image(of: moment) {
            let file = folder.file(name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try bytes.write(to: file)
        }
        if withGarbage {
            try Data(repeating: 0xA5, count: 32768).write(to: folder.file("Archives.sqlite-shm"))
        }
        do {
            let file = try DatabaseFile.open(at: folder.file("Archives.sqlite"))
            let names = try file.archiveNames()
            var stores: [RecordedDay.Name: Store<Item>] = [:]
            for name in RecordedDay.Name.allCases where names.contains(name.rawValue) {
                stores[name] = try RecordedDay.open(name, in: file)
            }
            var contents: RecordedDay.Contents = [:]
            for (name, store) in stores {
                for key in try store.keys() {
                    contents[name.rawValue, default: [:]][key.normalized] = try store.peek(key)
                }
            }
            let state = (promise.oldest...promise.newest).last { day.states[$0] == contents }
            if state == nil {
                let other =
                    day.states.firstIndex(of: contents).map { "that is state \($0)" }
                    ?? "that is no state"
                let difference = day.states[promise.oldest].map { name, entries in
                    """
                    \(name): \(entries.keys.filter { contents[name]?[$0] != entries[$0] }.sorted())
                    """
                }
                Issue.record("\(cut): promised \(promise), \(other); \(difference)")
            }
            try checkAgreement(stores[.main], contents["main"] ?? [:], cut)
            #expect(try file.verify().isIntact, "\(cut)")
            #expect(try folder.names().filter { $0.contains("damaged") } == [], "\(cut)")
            let store = try RecordedDay.open(.safe, in: file)
            try store.record(Item(0, length: 100), forKey: "afterwards")
            #expect(try store.value(forKey: "afterwards") == Item(0, length: 100), "\(cut)")
            try file.close()
            return state
        } catch {
            Issue.record("\(cut): \(String(reflecting: error))")
            return nil
        }
    }

    private func checkAgreement(
        _ store: Store<Item>?,
        _ rows: [String: Item],
        _ cut: PowerCut
    ) throws {
        guard let store else { return }
        for group in ["g0", "g1", "g2"] {
            let found = try store.fetch(Item.inGroup(group)).map(\.text).sorted()
            #expect(
                found == rows.values.filter { $0.group == group }.map(\.text).sorted(),
                "\(cut)"
            )
        }
        #expect(
            try store.count(Item.tagged("t1")) == rows.values.count { $0.tags.contains("t1") },
            "\(cut)"
        )
        #expect(try store.count() == rows.count, "\(cut)")
    }
}
