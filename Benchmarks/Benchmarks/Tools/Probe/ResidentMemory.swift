import Foundation
import Samples
import Vellum

/// How much memory a process has that uses a large archive under a small limit.
enum ResidentMemory {
    private static let limit = 1.megaByte

    /// Fills the archive, in a process that ends before anything is measured.
    static func fill(_ desk: Desk) throws {
        let store = try open(desk).store
        for start in stride(from: 0, to: count(desk), by: 1000) {
            try store.record(contentsOf: (start..<start + 1000).map(Person.init))
        }
        try store.close()
    }

    static func measure(_ desk: Desk) throws {
        let before = status("VmRSS")
        let (factory, store) = try open(desk)
        var random = SystemRandomNumberGenerator()
        let count = count(desk)
        for number in 0..<100_000 {
            guard try store.access(archiveWithKey: Person.key(Int.random(in: 0..<count, using: &random))) != nil else {
                throw CocoaError(.fileNoSuchFile)
            }
            if number.isMultiple(of: 100) { try store.record(Person(count + number)) }
        }
        let after = status("VmRSS")
        try factory.close()
        let entries = desk.isQuick ? "20 k" : "1 M"
        try desk.write(
            [
                Figure(title: "Resident memory of a process before it opens anything", value: before, unit: "MB"),
                Figure(
                    title: "… with \(entries) entries on disk and 1 MB of memory, after 100 k accesses and 1 k records",
                    value: after, unit: "MB", limit: 64),
                Figure(title: "… at its peak", value: status("VmHWM"), unit: "MB"),
            ], named: "2 resident memory")
    }

    private static func count(_ desk: Desk) -> Int { desk.isQuick ? 20_000 : 1_000_000 }

    private static func open(_ desk: Desk) throws -> (factory: ArchivesFactory, store: ArchiveStore<Person>) {
        let factory = ArchivesFactory(directory: try desk.folder("probe"))
        return (factory, try factory.store(for: Person.self, memoryLimit: limit, diskLimit: 8.gigaByte))
    }

    /// A line of the system's account of this process, in megabytes; not a number where there is none.
    static func status(_ name: String) -> Double {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return .nan }
        let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        let kilobytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Double($0) }
        return (kilobytes ?? .nan) / 1024
    }
}
