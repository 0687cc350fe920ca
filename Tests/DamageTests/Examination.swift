import Foundation
import VellumCore
import VellumEngine

/// Opens damaged files in a folder and uses them as a program would.
final class Examination {
    private let folder: URL
    private let sample: SampleStore
    /// Further values that may be found: those of another store, one of whose files replaces one of
    /// ours.
    private var others: [SampleStore.Place: Set<Specimen>] = [:]
    private var findings = Findings()
    /// The values recorded since.
    private var fresh: [SampleStore.Place: Specimen] = [:]

    init(folder: URL, sample: SampleStore) {
        self.folder = folder
        self.sample = sample
    }

    private lazy var places = Dictionary(grouping: sample.history.keys, by: \.archive)

    private var url: URL { folder.appendingPathComponent(SampleStore.name) }

    func examine(
        _ files: [String: Data],
        besides others: [SampleStore.Place: Set<Specimen>] = [:]
    ) async -> Findings {
        self.others = others
        do {
            try prepare(files)
            await visit(1)
            if findings.refusal == nil {
                await visit(2)
                try checkWhatIsKeptAside()
            }
        } catch {
            findings.wrong.append("the examination failed: \(error)")
        }
        return findings
    }

    private func prepare(_ files: [String: Data]) throws {
        findings = Findings()
        fresh = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            unlink(folder.path + "/" + name)
        }
        for (suffix, data) in files {
            // `Data.write` would sync.
            let descriptor = creat(url.path + suffix, 0o600)
            let count = data.withUnsafeBytes {
                Foundation.write(descriptor, $0.baseAddress, $0.count)
            }
            close(descriptor)
            if descriptor < 0 || count != data.count { throw POSIXError(.EIO) }
        }
    }

    // MARK: An opening

    private func visit(_ number: Int) async {
        findings.remains = []
        findings.isBroken = false
        do throws(VellumError) {
            let file = try DatabaseFile.open(at: url, clock: SampleStore.clock)
            var events: [AsyncStream<StoreEvent>] = []
            var stores: [(name: String, store: Store<Specimen>)] = []
            // A store without errors and reports is checked once more only for the new values.
            let isSuspicious = number == 1 || findings.isReported || !findings.lost.isEmpty
            if isSuspicious { findings.lost = [] }
            for archive in SampleStore.archives {
                attempt("open \(archive)") { () throws(VellumError) in
                    let store = try SampleStore.open(archive, in: file)
                    events.append(store.events.events())
                    stores.append((archive, store))
                    if isSuspicious { read(archive, store) }
                    readFresh(archive, store)
                }
            }
            guard isSuspicious else { return try file.close() }
            attempt("verify") { () throws(VellumError) in
                let report = try file.verify()
                if !report.isIntact {
                    findings.isReported = true
                    let isWhole = report.archives.allSatisfy {
                        $0.hasRightTotals && $0.hasRightOrder && $0.hasRightIndex
                    }
                    findings.isBroken =
                        findings.isBroken || !isWhole || !report.structuralProblems.isEmpty
                    findings.remains.append("\(report)")
                }
            }
            for (name, store) in stores { write(number, name, store) }
            attempt("close") { () throws(VellumError) in try file.close() }
            for (_, store) in stores { store.events.finish() }
            for stream in events {
                for await event in stream { hear(event) }
            }
        } catch {
            findings.isReported = true
            switch error.code {
            case .foreignFile, .newerFormat, .notADatabase: findings.refusal = error.code
            default: findings.wrong.append("open: \(String(reflecting: error))")
            }
        }
    }

    private func hear(_ event: StoreEvent) {
        switch event {
        case .setAside(_, let salvaged):
            findings.setAside += 1
            findings.salvaged += salvaged
            findings.isReported = true
        case .damagedEntry: findings.isReported = true
        case .failure(let error):
            findings.isReported = true
            note(error, "event")
        default: break
        }
    }

    /// Damage may be reported by any call; other failures are defects.
    private func attempt(_ what: String, _ body: () throws(VellumError) -> Void) {
        do throws(VellumError) {
            try body()
        } catch {
            findings.isReported = true
            note(error, what)
        }
    }

    private func note(_ error: VellumError, _ what: String) {
        findings.remains.append("\(what): \(error.code)")
        findings.isBroken = findings.isBroken || error.code == .damagedFile
        if ![.damagedEntry, .damagedFile].contains(error.code) {
            findings.wrong.append("\(what): \(String(reflecting: error))")
        }
    }

    // MARK: Reading

    private func read(_ archive: String, _ store: Store<Specimen>) {
        for place in places[archive] ?? [] {
            let key = EntryKey(place.key)
            var found: Specimen?
            attempt("value") { () throws(VellumError) in found = try store.value(forKey: key) }
            check(found, at: place)
            if found == nil, sample.present[place] != nil { findings.lost.insert(place) }
        }
        store.trimMemory(to: .zero)
        attempt("values") { () throws(VellumError) in check(try store.values(), archive) }
        attempt("keys") { () throws(VellumError) in _ = try store.keys() }
        attempt("count") { () throws(VellumError) in _ = try store.count() }
        attempt("metadata") { () throws(VellumError) in _ = try store.metadata(forKey: "key 4") }
        guard archive == "people" else { return }
        for question in Specimen.questions {
            attempt("query") { () throws(VellumError) in check(try store.fetch(question), archive) }
            attempt("count of query") { () throws(VellumError) in _ = try store.count(question) }
        }
    }

    private func readFresh(_ archive: String, _ store: Store<Specimen>) {
        for (place, specimen) in fresh where place.archive == archive {
            attempt("fresh") { () throws(VellumError) in
                if try store.value(forKey: EntryKey(place.key)) != specimen {
                    findings.remains.append("\(place) is gone")
                }
            }
        }
    }

    private func check(_ specimens: [Specimen], _ archive: String) {
        for specimen in specimens where !sample.isPresent(specimen, in: archive) {
            if specimen.archive != archive {
                findings.wrong.append("a value of \(specimen.archive) in \(archive)")
            }
            let place = SampleStore.Place(archive: archive, key: specimen.key)
            if fresh[place] != specimen { check(specimen, at: place) }
        }
    }

    private func check(_ found: Specimen?, at place: SampleStore.Place) {
        guard let found, sample.present[place] != found else { return }
        guard
            sample.history[place]?.contains(found) == true || others[place]?.contains(found) == true
        else {
            findings.wrong.append(
                "under \(place) a value that was not recorded there: \(found.archive), \(found.key)"
            )
            return
        }
        findings.outdated.append(place)
    }

    // MARK: Writing

    private func write(_ number: Int, _ archive: String, _ store: Store<Specimen>) {
        let place = SampleStore.Place(archive: archive, key: "fresh \(number)")
        let specimen = Specimen(
            archive: archive,
            key: place.key,
            version: 100,
            age: number,
            tags: ["fresh"],
            filler: "fresh"
        )
        attempt("record") { () throws(VellumError) in
            try store.record(specimen, forKey: EntryKey(place.key))
            store.trimMemory(to: .zero)
            fresh[place] = specimen
            if try store.value(forKey: EntryKey(place.key)) != specimen {
                // A damaged index may hide it until the file is salvaged, but the damage must have
                // been reported then.
                if findings.isReported {
                    findings.remains.append("what was recorded just now is not read")
                } else {
                    findings.wrong.append("what was recorded just now is not read")
                }
            }
        }
    }

    /// Each damaged database is kept beside the new one, and no damage marker is left once
    /// everything is intact.
    private func checkWhatIsKeptAside() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        let aside = names.filter { name in
            name.contains(".damaged-") && !Damage.sideFiles.contains(where: name.hasSuffix)
                && !name.hasSuffix("-damaged")
        }
        if aside.count != findings.setAside {
            findings.wrong.append(
                "\(findings.setAside) files were set aside, and these are there: \(names.sorted())"
            )
        }
    }
}
