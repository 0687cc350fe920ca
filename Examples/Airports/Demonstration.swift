import Foundation
import Vellum

/// Records, queries and evicts airports, and prints each step.
struct Demonstration {
    let folder: URL
    let report: Report

    func run() throws {
        let airports = try report.step {
            let airports = try Self.list()
            return ("read the list of \(airports.count) airports", airports)
        }

        report.title("An archive bounded to 1 MB of memory and 32 MB of disk")
        let factory = ArchivesFactory(directory: folder)
        let archives = try report.step {
            let archives = try factory.archives(
                for: Airport.self,
                trySetMaxMemorySize: 1.megaByte,
                trySetMaxDiskSize: 32.megaByte
            )
            return ("open it in \(folder.path)", archives)
        }
        try fill(archives, with: airports)
        try access(archives, airports)
        try Questions(archives, factory, airports, report).ask()
        try delete(archives)
        property(factory)
        try show(archives)

        report.title("The same airports in an archive bounded to 1 MB of disk")
        try boundedArchive(airports)
        try report.step { ("close both archives", try factory.close()) }
        try Versions(folder: folder.appendingPathComponent("Versions"), report: report).show(
            airports
        )
        report.title("Run it again: everything is still stored.  (--fresh deletes it first.)")
    }

    private static func list() throws -> [Airport] {
        guard
            let url = Bundle.module.url(
                forResource: "airports",
                withExtension: "csv",
                subdirectory: "Data"
            )
        else {
            throw CocoaError(.fileNoSuchFile)
        }
        return CommaSeparatedValues.rows(of: try String(contentsOf: url, encoding: .utf8))
            .compactMap(Airport.init(row:))
    }

    // MARK: Recording

    private func fill(_ archives: ArchiveManager<Airport>, with airports: [Airport]) throws {
        let present = try archives.store.count()
        guard present < airports.count else {
            report.line("all \(present) airports are stored from an earlier run, nothing to record")
            return
        }
        if present > 0 { report.line("\(present) airports are stored from an earlier run") }
        try report.step {
            for start in stride(from: 0, to: airports.count, by: 1000) {
                let end = min(start + 1000, airports.count)
                try archives.store.record(contentsOf: airports[start..<end])
                report.progress(end, of: airports.count)
            }
            return ("record \(airports.count) airports, a thousand to a transaction", ())
        }
        report.step {
            for airport in airports.prefix(1000) { archives.record(airport) }
            return ("record a thousand of them again, one by one; each survives kill -9", ())
        }
    }

    // MARK: Accessing

    private func access(_ archives: ArchiveManager<Airport>, _ airports: [Airport]) throws {
        report.title("Access by ICAO code")
        for code in ["LOWI", "KJFK", "RJTT"] {
            describe(archives, code, "from disk  ")
            describe(archives, code, "from memory")
        }
        report.step {
            let found = airports.count { archives.access(archiveWithKey: $0.icao) != nil }
            return ("access every airport once: \(found) found", ())
        }
        if archives.access(archiveWithKey: "NOWHERE") == nil {
            report.line("an airport that is not in the archive: nil")
        }
    }

    private func describe(_ archives: ArchiveManager<Airport>, _ code: String, _ origin: String) {
        if origin.hasPrefix("from disk") { archives.store.trimMemory(to: .zero) }
        report.step {
            let airport = archives.access(archiveWithKey: code)
            return (
                """
                \(origin)  \(code)  \
                \(airport.map { "\($0.name), \($0.city), \($0.country)" } ?? "not found")
                """,
                ()
            )
        }
    }

    // MARK: Deleting, and the property wrapper

    private func delete(_ archives: ArchiveManager<Airport>) throws {
        report.title("Delete and record again")
        guard let airport = archives.access(archiveWithKey: "LOWI") else { return }
        report.step {
            archives.delete(airport)
            return (
                """
                delete LOWI: \
                \(archives.access(archiveWithKey: "LOWI") == nil ? "deleted" : "still there")
                """,
                ()
            )
        }
        report.step {
            archives.record(airport)
            return (
                """
                record it again: \
                \(archives.access(archiveWithKey: "LOWI") == airport ? "found" : "not found")
                """,
                ()
            )
        }
    }

    private func property(_ factory: ArchivesFactory) {
        report.title("A property that is recorded when it is assigned")
        let holder = Holder(factory)
        report.line(
            "@Archived(initialPrimaryKey: \"EDDF\") var home   →   \(holder.home?.name ?? "nil")"
        )
        let home = holder.home
        holder.home = nil
        report.line(
            """
            home = nil deletes it                            →   \
            \(Holder(factory).home?.name ?? "nil")
            """
        )
        holder.home = home
        report.line(
            """
            home = airport records it                        →   \
            \(Holder(factory).home?.name ?? "nil")
            """
        )
    }

    private struct Holder {
        @Archived var home: Airport?

        init(_ factory: ArchivesFactory) {
            _home = Archived(initialPrimaryKey: "EDDF", in: factory)
        }
    }

    // MARK: Limits

    private func show(_ archives: ArchiveManager<Airport>) throws {
        report.title("Statistics of the archive")
        let statistics = try archives.store.statistics()
        let limits = archives.store.limits
        report.line(
            """
            memory  \(DataSize(bytes: statistics.memory.bytes)) of \(limits.memory), \
            \(statistics.memory.entries) airports
            """
        )
        report.line(
            """
            disk    \(DataSize(bytes: statistics.disk.bytes)) of \(limits.disk), \
            \(statistics.disk.entries) airports
            """
        )
        report.line(
            """
            hits    \(statistics.memoryHits) in memory, \(statistics.diskHits) on disk; misses \
            \(statistics.misses)
            """
        )
        report.line(
            """
            evicted from memory: \(statistics.memoryEvictions); evicted from the archive: \
            \(statistics.removals.evicted)
            """
        )
    }

    private func boundedArchive(_ airports: [Airport]) throws {
        let factory = ArchivesFactory(directory: folder.appendingPathComponent("Bounded"))
        let archives = try factory.archives(
            for: Airport.self,
            trySetMaxMemorySize: 256.kiloByte,
            trySetMaxDiskSize: 1.megaByte
        )
        try report.step {
            try archives.store.record(contentsOf: airports.prefix(2000))
            for code in airports.prefix(10) { _ = archives.access(archiveWithKey: code.icao) }
            for start in stride(from: 2000, to: airports.count, by: 1000) {
                // The first ten are accessed before each transaction, so they are never the least
                // recently used.
                for airport in airports.prefix(10) {
                    _ = archives.access(archiveWithKey: airport.icao)
                }
                try archives.store.record(
                    contentsOf: airports[start..<min(start + 1000, airports.count)]
                )
            }
            return (
                "record all \(airports.count), and access the first ten before each thousand", ()
            )
        }
        let statistics = try archives.store.statistics()
        let kept = Set(try archives.store.keys())
        let tail = airports.reversed().prefix { kept.contains($0.icao) }.count
        report.line(
            """
            disk    \(DataSize(bytes: statistics.disk.bytes)) of \(archives.store.limits.disk), \
            \(kept.count) airports are kept; \(statistics.removals.evicted) were evicted
            """
        )
        report.line(
            """
            kept are the last \(tail) that were recorded, and \
            \(airports.prefix(10).count { kept.contains($0.icao) }) of the ten that were accessed
            """
        )
        try factory.close()
    }
}

extension [RemovalCause: Int] {
    fileprivate var evicted: Int { self[.evicted] ?? 0 }
}
