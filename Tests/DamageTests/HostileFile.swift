import Foundation
import RawDatabase
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// A small closed store whose file a test makes hostile, and the result of using it.
final class HostileFile {
    static let entries = 12
    private static let whole = Result { try make() }

    let folder: DamageFolder
    private var outcome = Outcome()
    var url: URL { folder.url.appendingPathComponent(SampleStore.name) }

    /// Restores the intact file.
    init() throws {
        folder = try DamageFolder()
        try Self.whole.get().write(to: url)
    }

    private static func make() throws -> Data {
        let folder = try DamageFolder()
        let url = folder.url.appendingPathComponent(SampleStore.name)
        let file = try DatabaseFile.open(at: url, clock: SampleStore.clock)
        for archive in SampleStore.archives {
            let store = try SampleStore.open(archive, in: file)
            // A retention policy, touches, recency log rows: a row in every table.
            try store.setRetention(.after(.seconds(1000)))
            for number in 0..<entries {
                let groups: [EntryKey] =
                    number % 3 == 0 ? ["new", EntryKey("group \(number)")] : []
                try store.record(
                    value(archive, number),
                    forKey: EntryKey("key \(number)"),
                    groups: groups
                )
            }
            for number in 0..<4 { _ = try store.value(forKey: EntryKey("key \(number)")) }
            file.waitForMaintenance()
        }
        try file.close()
        return try Data(contentsOf: url)
    }

    static func value(_ archive: String, _ number: Int) -> Specimen {
        Specimen(
            archive: archive,
            key: "key \(number)",
            version: 1,
            age: number * 7,
            tags: ["all"],
            filler: "filler"
        )
    }

    /// The result of using the file.
    struct Outcome {
        /// How many of the recorded entries are found.
        var found = 0
        /// How many files were set aside.
        var setAside = 0
        var codes: Set<VellumError.Code> = []
        var wrong: [String] = []
    }

    /// Opens the file twice and uses it as a program would: reads, lists, queries, records,
    /// removes, verifies, reclaims.
    func use() -> Outcome {
        outcome = Outcome()
        for visit in 1...2 {
            outcome.found = 0
            attempt("open") { () throws(VellumError) in
                let file = try DatabaseFile.open(at: url, clock: SampleStore.clock)
                for archive in SampleStore.archives {
                    attempt(archive) { () throws(VellumError) in
                        try use(archive, try SampleStore.open(archive, in: file), visit)
                    }
                }
                file.sweepEverything()
                attempt("verify") { () throws(VellumError) in _ = try file.verify() }
                attempt("close") { () throws(VellumError) in try file.close() }
            }
        }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.url.path)) ?? []
        outcome.setAside = names.count { name in
            name.contains(".damaged-") && !Damage.sideFiles.contains(where: name.hasSuffix)
                && !name.hasSuffix("-damaged")
        }
        return outcome
    }

    private func use(_ archive: String, _ store: Store<Specimen>, _ visit: Int) throws(VellumError)
    {
        // Uses the key that the open archive reports, because the stored one may be anything.
        attempt("claim") { () throws(VellumError) in
            try store.setRetention(.after(.seconds(1000)))
        }
        for number in 0..<Self.entries {
            attempt("value") { () throws(VellumError) in
                if try store.value(forKey: EntryKey("key \(number)")) == Self.value(archive, number)
                {
                    outcome.found += 1
                }
            }
        }
        store.trimMemory(to: .zero)
        attempt("keys") { () throws(VellumError) in _ = try store.keys() }
        attempt("values") { () throws(VellumError) in _ = try store.values() }
        attempt("metadata") { () throws(VellumError) in _ = try store.metadata(forKey: "key 1") }
        if archive == "people" {
            for question in Specimen.questions {
                attempt("query") { () throws(VellumError) in _ = try store.fetch(question) }
                attempt("count") { () throws(VellumError) in _ = try store.count(question) }
            }
        }
        attempt("record") { () throws(VellumError) in
            let new = Specimen(
                archive: archive,
                key: "new \(visit)",
                version: 1,
                age: 1,
                tags: [],
                filler: "new"
            )
            try store.record(
                new,
                forKey: EntryKey("new \(visit)"),
                groups: [EntryKey("new \(visit)")]
            )
            store.trimMemory(to: .zero)
            if try store.value(forKey: EntryKey("new \(visit)")) != new {
                outcome.wrong.append("what was recorded is not there")
            }
            if try !store.remove(EntryKey("new \(visit)")) {
                outcome.wrong.append("what was recorded is not removed")
            }
            if try store.value(forKey: EntryKey("new \(visit)")) != nil {
                outcome.wrong.append("what was removed is there")
            }
        }
        attempt("groups") { () throws(VellumError) in
            _ = try store.keysByUse(group: "new")
            let new = Specimen(
                archive: archive,
                key: "grouped",
                version: 1,
                age: 1,
                tags: [],
                filler: "new"
            )
            try store.record(new, forKey: "grouped", groups: ["mine"])
            if try store.keysByUse(group: "mine").map(\.key) != ["grouped"] {
                outcome.wrong.append("what was recorded is in no group")
            }
            if try store.removeAll(group: "mine") != 1 {
                outcome.wrong.append("a group is not removed")
            }
            if try store.value(forKey: "grouped") != nil {
                outcome.wrong.append("what was in a group is there")
            }
        }
        attempt("flush") { () throws(VellumError) in try store.flush() }
    }

    private func attempt(_ what: String, _ body: () throws(VellumError) -> Void) {
        do throws(VellumError) {
            try body()
        } catch {
            outcome.codes.insert(error.code)
            if ![
                .damagedFile, .damagedEntry, .notDecodable, .newerVersion, .vanished, .foreignFile,
                .newerFormat, .wrongKind, .tooLarge,
            ]
            .contains(
                error.code
            ) {
                outcome.wrong.append("\(what): \(String(reflecting: error))")
            }
        }
    }
}
