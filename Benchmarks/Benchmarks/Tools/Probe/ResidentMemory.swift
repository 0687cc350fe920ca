import Foundation
import Samples
import Vellum

/// The memory of a process that uses a large archive with a small memory limit.
enum ResidentMemory {
    private static let limit = 1.megaByte

    /// Fills the archive, in a process that ends before the measurement.
    static func fill(_ workspace: Workspace) throws {
        let store = try open(workspace).store
        for start in stride(from: 0, to: count(workspace), by: 1000) {
            try store.record(contentsOf: (start..<start + 1000).map(Person.init))
        }
        try store.close()
    }

    static func measure(_ workspace: Workspace) throws {
        let before = status("VmRSS")
        let (factory, store) = try open(workspace)
        var random = SystemRandomNumberGenerator()
        let count = count(workspace)
        for number in 0..<100_000 {
            guard
                try store.access(
                    archiveWithKey: Person.key(Int.random(in: 0..<count, using: &random))
                ) != nil
            else {
                throw CocoaError(.fileNoSuchFile)
            }
            if number.isMultiple(of: 100) { try store.record(Person(count + number)) }
        }
        let after = status("VmRSS")
        try factory.close()
        let entries = workspace.isQuick ? "20 k" : "1 M"
        try workspace.write(
            [
                Figure(
                    title: "Resident memory of a process before it opens anything",
                    value: before,
                    unit: "MB"
                ),
                Figure(
                    title:
                        """
                        … with \(entries) entries on disk and 1 MB of memory, after 100 k accesses \
                        and 1 k records
                        """,
                    value: after,
                    unit: "MB",
                    limit: 64
                ),
                Figure(title: "… at its peak", value: status("VmHWM"), unit: "MB"),
            ],
            named: "2 resident memory"
        )
    }

    private static func count(_ workspace: Workspace) -> Int {
        workspace.isQuick ? 20_000 : 1_000_000
    }

    private static func open(
        _ workspace: Workspace
    ) throws -> (factory: ArchivesFactory, store: ArchiveStore<Person>) {
        let factory = ArchivesFactory(directory: try workspace.folder("probe"))
        return (
            factory, try factory.store(for: Person.self, memoryLimit: limit, diskLimit: 8.gigaByte)
        )
    }

    /// A line of `/proc/self/status`, in megabytes; NaN if there is none.
    static func status(_ name: String) -> Double {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else {
            return .nan
        }
        let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        let kilobytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap {
            Double($0)
        }
        return (kilobytes ?? .nan) / 1024
    }
}
