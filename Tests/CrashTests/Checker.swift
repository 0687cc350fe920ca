import CrashScript
import Foundation
import VellumCore
import VellumEngine
import VellumTestSupport

/// Compares the contents of a folder with those that its journal requires, allows and forbids.
struct Checker {
    let folder: String

    struct Outcome {
        var problems: [String] = []
        /// The state in which the next process begins.
        var model = Model()
        var opening = Duration.zero
    }

    func check(_ journal: JournalEntries) throws -> Outcome {
        var outcome = Outcome(problems: journal.complaints)
        let expectation = Expectation(journal)
        let clock = Library.Clock(expectation.now)
        let before = ContinuousClock().now
        let file = try DatabaseFile.open(at: Library.url(in: folder), clock: clock.wallClock)
        outcome.opening = ContinuousClock().now - before

        let report = try file.verify()
        if !report.isIntact { outcome.problems.append("the file is not sound: \(report)") }
        var found: [ScriptArchive: [String: Int]] = [:]
        var order: [ScriptArchive: [ListedKey]] = [:]
        for name in try file.archiveNames() {
            guard let archive = ScriptArchive(rawValue: name) else {
                outcome.problems.append("there is an archive that nobody made: \(name)")
                continue
            }
            let store = try file.store(
                named: name,
                codec: ItemCodec(archive, version: .max),
                memory: Capacity(1.megaByte),
                disk: .unlimited
            )
            order[archive] = try store.keysByUse().reversed()
            for use in order[archive] ?? [] {
                // The codec rejects items that are torn, mixed or misplaced.
                guard let item = try store.peek(use.key), item.key == use.key.normalized,
                    item.size == use.bytes
                else {
                    outcome.problems.append(
                        "\(archive) lists \(use.key.normalized) and has not got it"
                    )
                    continue
                }
                found[archive, default: [:]][item.key] = item.version
            }
            if archive.hasGroups {
                outcome.problems += try groupProblems(of: archive, store, found[archive] ?? [:])
            }
            try store.close()
        }
        if let state = expectation.state(of: found) {
            outcome.model = restored(state, order, now: expectation.now)
            // Objects of the next version may be there.
            if expectation.underWay == .raise {
                outcome.model.typeVersion = expectation.acknowledged.typeVersion + 1
            }
            try outcome.problems += disagreements(
                of: file,
                outcome.model,
                underWay: expectation.underWay
            )
        } else {
            outcome.problems.append(difference(found, expectation))
        }
        file.waitForMaintenance()
        try file.close()
        return outcome
    }

    /// The state with the order of use in the file, which later evictions follow.
    private func restored(
        _ state: Model,
        _ order: [ScriptArchive: [ListedKey]],
        now: Int64
    ) -> Model {
        var model = state
        model.now = now
        model.archives = [:]
        for (archive, uses) in order {
            for use in uses {
                guard let held = state.items(on: archive)[use.key.normalized] else { continue }
                model.put(
                    Item(
                        archive: archive,
                        key: use.key.normalized,
                        version: held.version,
                        filling: held.filling
                    ),
                    expires: held.expires,
                    used: use.lastUse.instant.rawValue
                )
            }
        }
        return model
    }

    /// Whether each item is in its group and in no other.
    private func groupProblems(
        of archive: ScriptArchive,
        _ store: Store<Item>,
        _ found: [String: Int]
    ) throws -> [String] {
        try Item.groups.enumerated().compactMap { number, group in
            let members = try Set(store.keysByUse(group: EntryKey(group)).map(\.key.normalized))
            let expected = Set(found.filter { $0.value % Item.groups.count == number }.keys)
            return members == expected
                ? nil
                : """
                \(archive) and its group \(group) disagree: \(members.symmetricDifference(expected))
                """
        }
    }

    /// Queries the index, and reads every entry.
    private func disagreements(
        of file: DatabaseFile,
        _ model: Model,
        underWay: Step?
    ) throws -> [String] {
        guard model.catalog > 0, try file.archiveNames().contains(ScriptArchive.safe.rawValue)
        else { return [] }
        var problems: [String] = []
        let store = try file.store(
            named: ScriptArchive.safe.rawValue,
            codec: ItemCodec(.safe, version: model.typeVersion),
            memory: Capacity(1.megaByte),
            disk: .unlimited,
            indexing: Item.catalog(model.catalog, version: model.typeVersion)
        )
        let versions = model.items(on: .safe).values.map(\.version)
        for group in 0..<7 {
            let answer = try store.fetch(Item.inGroup(group)).map(\.version).sorted()
            if answer != versions.filter({ $0 % 7 == group }).sorted() {
                problems.append("index and entries disagree about group \(group)")
            }
        }
        for rest in 0..<5
        where try store.count(Item.tagged("mod\(rest)"))
            != versions.count(where: { $0 % 5 == rest })
        {
            problems.append("index and entries disagree about tag mod\(rest)")
        }
        try store.close()
        return problems
    }

    private func difference(
        _ found: [ScriptArchive: [String: Int]],
        _ expectation: Expectation
    ) -> String {
        var words = ["the file holds none of \(expectation.states.count) states."]
        let expected = expectation.acknowledged.contents(at: expectation.now)
        for archive in ScriptArchive.allCases where found[archive] != expected[archive] {
            let (is_, must) = (found[archive] ?? [:], expected[archive] ?? [:])
            let missing = must.keys.filter { is_[$0] == nil }.sorted().map {
                "\($0)=\(must[$0] ?? 0)"
            }
            let others = is_.filter { must[$0.key] != $0.value }.sorted { $0.key < $1.key }.map {
                "\($0.key)=\($0.value) not \(must[$0.key] ?? -1)"
            }
            words.append("\(archive): missing \(missing.prefix(20)), other \(others.prefix(20))")
        }
        if let underWay = expectation.underWay {
            words.append("under way: \(String(describing: underWay).prefix(200))")
        }
        return words.joined(separator: " ")
    }
}
