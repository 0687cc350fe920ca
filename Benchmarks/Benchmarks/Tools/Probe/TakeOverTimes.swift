import Foundation
import Samples
import Vellum

/// 20,000 files of version 1 are taken over: by opening the archive, and by hand, which reads, decodes and records all of them in bulk.
///
/// Both leave the objects in a file with the same durability; by hand the files stay where they are, and the dates are lost.
enum TakeOverTimes {
    struct Original: ArchiveCodable {
        static var archiveName: String { "originals" }
        var primaryKey: String { id }
        var id: String
        var name: String
        var email: String
        var age: Int
        var score: Double
        var isActive: Bool

        init(_ person: Person) {
            (id, name, email) = (person.id, person.name, person.email)
            (age, score, isActive) = (person.age, person.score, person.isActive)
        }
    }

    static func measure(_ workspace: Workspace) throws -> [Figure] {
        let count = workspace.isQuick ? 2000 : 20_000
        let folder = try workspace.folder("take-over")
        defer { try? FileManager.default.removeItem(at: folder) }
        var times: (byHand: [Double], opening: [Double]) = ([], [])
        // In turns, so that both have the same machine.
        for round in 0..<5 {
            times.byHand.append(try recordByHand(count, folder.appendingPathComponent("by hand \(round)")))
            times.opening.append(try open(count, folder.appendingPathComponent("opening \(round)")))
        }
        let (byHand, opening) = (times.byHand.sorted()[2], times.opening.sorted()[2])
        return [
            Figure(title: "Read \(count) files of version 1 and record them in bulk by hand, median of 5", value: byHand, unit: "s"),
            Figure(title: "… taken over when the archive is opened, median of 5", value: opening, unit: "s"),
            Figure(title: "… as a multiple", value: opening / byHand, unit: "×", limit: 1.5),
            Figure(title: "… the slowest opening", value: times.opening.max() ?? 0, unit: "s"),
        ]
    }

    /// Writes the files, as version 1 did.
    private static func writeOriginals(_ count: Int, in folder: URL) throws -> URL {
        let originals = folder.appendingPathComponent("originals")
        try FileManager.default.createDirectory(at: originals, withIntermediateDirectories: true)
        for number in 0..<count {
            let person = Original(Person(number))
            try JSONEncoder().encode(person).write(to: originals.appendingPathComponent("\(person.id).vlm"))
        }
        return originals
    }

    private static func open(_ count: Int, _ folder: URL) throws -> Double {
        _ = try writeOriginals(count, in: folder)
        let factory = ArchivesFactory(directory: folder.appendingPathComponent("archives"), originals: folder)
        let start = ContinuousClock.now
        let store = try factory.store(for: Original.self)
        let duration = ContinuousClock.now - start
        guard try store.count() == count else { fatalError("Objects are missing.") }
        try factory.close()
        return duration / .seconds(1)
    }

    private static func recordByHand(_ count: Int, _ folder: URL) throws -> Double {
        let originals = try writeOriginals(count, in: folder)
        let factory = ArchivesFactory(directory: folder.appendingPathComponent("archives"))
        let start = ContinuousClock.now
        let store = try factory.store(for: Original.self, diskLimit: .unlimited)
        let decoder = JSONDecoder()
        let files = try FileManager.default.contentsOfDirectory(at: originals, includingPropertiesForKeys: nil)
        try store.record(contentsOf: try files.map { try decoder.decode(Original.self, from: Data(contentsOf: $0)) })
        try store.flush()
        let duration = ContinuousClock.now - start
        try factory.close()
        return duration / .seconds(1)
    }
}
