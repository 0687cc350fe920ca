import Foundation
import Vellum

/// Takes over a folder of a program that used version 1 of Vellum: one file for each object, with the date of its last use.
struct Originals {
    let folder: URL
    let report: Report

    /// A type of that program, in the folder that version 1 gave it: `vellum_runway`.
    struct Runway: ArchiveCodable {
        var primaryKey: String { airport }
        var airport: String
        var name: String
        var elevation: Double
    }

    private var caches: URL { folder.appendingPathComponent("caches") }

    func show(_ airports: [Airport]) throws {
        if FileManager.default.fileExists(atPath: folder.path) { try FileManager.default.removeItem(at: folder) }
        report.title("A folder of a program that used version 1 of Vellum")
        let files = try report.step { ("write 5,000 files as version 1 did, and one that is damaged", try write(airports.prefix(5000))) }
        let factory = ArchivesFactory(directory: folder.appendingPathComponent("archives"), originals: caches)
        let runways = try report.step {
            let runways = try factory.archives(for: Runway.self)
            return ("open the archive of the type, which takes over \(runways.accessAll().count) of \(files) objects", runways)
        }
        guard let oldest = airports.first, let date = runways.latestAccessedTime(for: oldest.icao) else { return }
        report.line("\(oldest.icao)  \(runways.access(archiveWithKey: oldest.icao)?.name ?? "not found"), last used \(date)")
        report.line("the disk limit, which nobody set, is \(runways.store.limits.disk)")
        for name in try FileManager.default.contentsOfDirectory(atPath: caches.path).sorted() {
            let count = try FileManager.default.contentsOfDirectory(atPath: caches.appendingPathComponent(name).path)
                .count { $0.hasSuffix(".vlm") }
            report.line("\(name): \(count) files")
        }
        try factory.close()
        let again = try report.step { ("open it again: nothing is left to take over", try factory.archives(for: Runway.self)) }
        report.line("\(again.accessAll().count) objects")
        try report.step { ("remove the files that were kept: \(try factory.removeOriginals()) folder", ()) }
        try factory.close()
    }

    /// Returns how many files were written. Each was last used a minute after the one before it.
    private func write(_ airports: ArraySlice<Airport>) throws -> Int {
        let files = caches.appendingPathComponent("vellum_runway")
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        let encoder = JSONEncoder()
        for (minute, airport) in airports.enumerated() {
            let runway = Runway(airport: airport.icao, name: airport.name, elevation: airport.elevation)
            let file = files.appendingPathComponent("\(airport.icao).vlm")
            try encoder.encode(runway).write(to: file)
            let date = Date(timeIntervalSince1970: 1_600_000_000 + 60 * Double(minute))
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file.path)
            if minute % 1000 == 999 { report.progress(minute + 1, of: airports.count) }
        }
        try Data("{".utf8).write(to: files.appendingPathComponent("damaged.vlm"))
        return airports.count + 1
    }
}
