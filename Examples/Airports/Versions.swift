import Foundation
import Vellum

/// The type that `AirportsBefore` records, as two later programs know it. Both open the archive of
/// its name.
enum VersionOne {
    /// The state is called a country.
    struct Airfield: ArchiveCodable, VersionedArchive, IndexedArchivable {
        static var archiveName: String { "Airports.Airfield" }
        static var archiveVersion: Int { 1 }
        static var archiveIndexes: [ArchiveIndex<Airfield>] { [.index(\.country)] }
        var primaryKey: String { code }
        var code: String
        var name: String
        var country: String
        var elevation: Int

        static func migrate(_ old: StoredObject) throws -> Migrated<Airfield> {
            var value = try old.value()
            value["country"] = value.removeValue(forKey: "state")
            return .object(try value.decode(Airfield.self))
        }
    }
}

enum VersionTwo {
    /// The elevation is in metres.
    struct Airfield: ArchiveCodable, VersionedArchive, IndexedArchivable {
        static var archiveName: String { "Airports.Airfield" }
        static var archiveVersion: Int { 2 }
        static var archiveIndexes: [ArchiveIndex<Airfield>] { [.index(\.country, \.metres)] }
        var primaryKey: String { code }
        var code: String
        var name: String
        var country: String
        var metres: Double

        init(_ old: VersionOne.Airfield) {
            (code, name, country, metres) = (
                old.code, old.name, old.country, Double(old.elevation) * 0.3048
            )
        }

        static func migrate(_ old: StoredObject) throws -> Migrated<Airfield> {
            guard old.version == 0 else {
                return .object(Airfield(try old.decode(VersionOne.Airfield.self)))
            }
            return switch try VersionOne.Airfield.migrate(old) {
            case .object(let object): .object(Airfield(object))
            case .remove: .remove
            }
        }
    }
}

/// Lets an earlier version of this program record airports, and opens them with later ones.
struct Versions {
    let folder: URL
    let report: Report

    func show(_ airports: [Airport]) throws {
        report.title(
            "A file of an earlier version of this program, which knows nothing of versions"
        )
        if FileManager.default.fileExists(atPath: folder.path) {
            try FileManager.default.removeItem(at: folder)
        }
        try report.step {
            (
                """
                record \(try recordBefore(airports)) airports with AirportsBefore, a separate \
                program
                """,
                ()
            )
        }

        report.title("Version 1, where the state of an airport is called its country")
        try open(VersionOne.Airfield.self) { store in
            for airfield in try store.fetch(
                where: #Predicate { $0.country == "NP" },
                sortedBy: [SortDescriptor(\.name)],
                limit: 3
            ) {
                report.line("\(airfield.code)  \(airfield.name), \(airfield.elevation) ft")
            }
        }
        report.title("Version 2, where the elevation is in metres")
        try open(VersionTwo.Airfield.self) { store in
            let highest = [SortDescriptor(\VersionTwo.Airfield.metres, order: .reverse)]
            for airfield in try store.fetch(
                where: #Predicate { $0.country == "NP" },
                sortedBy: highest,
                limit: 3
            ) {
                report.line("\(airfield.code)  \(airfield.name), \(Int(airfield.metres)) m")
            }
        }
    }

    /// Runs the other program, which stands beside this one.
    private func recordBefore(_ airports: [Airport]) throws -> Int {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let list = folder.appendingPathComponent("airports.tsv")
        try airports.map { "\($0.icao)\t\($0.name)\t\($0.country)\t\(Int($0.elevation))" }.joined(
            separator: "\n"
        )
        .write(to: list, atomically: true, encoding: .utf8)
        let program = Process()
        program.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
            .resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent("AirportsBefore")
        program.arguments = [folder.path, list.path]
        let output = Pipe()
        program.standardOutput = output
        try program.run()
        let printed = String(
            decoding: output.fileHandleForReading.readDataToEndOfFile(),
            as: UTF8.self
        )
        program.waitUntilExit()
        guard program.terminationStatus == 0,
            let count = Int(printed.trimmingCharacters(in: .whitespacesAndNewlines))
        else {
            throw CocoaError(.executableLoad)
        }
        return count
    }

    /// Opens the archive as a type, asks it at once, and waits until every object is migrated for
    /// good.
    private func open<Airfield: ArchiveCodable & VersionedArchive & Sendable>(
        _ type: Airfield.Type,
        _ ask: (ArchiveStore<Airfield>) throws -> Void
    ) throws {
        let factory = ArchivesFactory(directory: folder)
        let store = try report.step { ("open it", try factory.store(for: type)) }
        let progress = try store.migrationProgress()
        report.line(
            """
            \(progress.examined) of \(progress.total) objects are migrated; questions are answered \
            all the same:
            """
        )
        try report.step {
            try ask(store)
            return ("ask", ())
        }
        try report.step {
            var progress = try store.migrationProgress()
            while !progress.isComplete {
                report.progress(progress.examined / 1000 * 1000, of: progress.total)
                Thread.sleep(forTimeInterval: 0.02)
                progress = try store.migrationProgress()
            }
            return ("migrate \(progress.total) objects in the background", ())
        }
        for archive in try factory.archives() {
            report.line("\(archive.name): version \(archive.version), \(archive.usage)")
        }
        try factory.close()
    }
}
