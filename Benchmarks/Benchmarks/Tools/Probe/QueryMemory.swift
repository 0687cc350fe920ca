import CBORCoding
import CRawSQLite
import Foundation
import Samples
import Vellum

/// The memory of a process whose query examines every object of a large archive and finds a few.
/// Each variant runs in its own process.
enum QueryMemory {
    /// The variants, in the order of the report.
    private enum Way: String, CaseIterable {
        case open, fetch, stream, byHand

        var title: String {
            switch self {
            case .open: "Peak memory of a process that opened an archive"
            case .fetch: "… and asked it for a hundredth of all objects, without an index"
            case .stream: "… the same by a stream"
            case .byHand: "… the same by hand: every row decoded, then the array filtered"
            }
        }
    }

    /// Fills the archive in this process and measures each variant in a child process.
    static func measure(_ workspace: Workspace) async throws {
        if CommandLine.arguments.count > 2, let way = Way(rawValue: CommandLine.arguments[2]) {
            return try await run(way, workspace)
        }
        let (factory, store) = try open(workspace)
        let count = count(workspace)
        if try store.count() < count {
            for start in stride(from: 0, to: count, by: 4000) {
                try store.record(contentsOf: (start..<min(start + 4000, count)).map(Person.init))
            }
        }
        try factory.close()
        let figures = try Way.allCases.map { way in
            let title = way == .open ? "\(way.title) of \(count / 1000) k" : way.title
            return Figure(
                title: title,
                value: try peak(of: way),
                unit: "MB",
                limit: [.fetch, .stream].contains(way) ? 64 : nil
            )
        }
        try workspace.write(figures, named: "3 query memory")
    }

    /// The output of a child.
    private static func peak(of way: Way) throws -> Double {
        let child = Process()
        child.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        child.arguments = ["query-memory", way.rawValue]
        let output = Pipe()
        child.standardOutput = output
        try child.run()
        let said = try output.fileHandleForReading.readToEnd() ?? Data()
        child.waitUntilExit()
        guard let peak = Double(String(decoding: said, as: UTF8.self)) else {
            throw CocoaError(.executableLoad)
        }
        return peak
    }

    private static func run(_ way: Way, _ workspace: Workspace) async throws {
        let (factory, store) = try open(workspace)
        let part = "Example 77"  // Eleven of a thousand names.
        var found = 0
        switch way {
        case .open: found = try store.count()
        case .fetch: found = try store.fetch(where: #Predicate { $0.name.contains(part) }).count
        case .stream:
            for try await _ in store.stream(where: #Predicate { $0.name.contains(part) }) {
                found += 1
            }
        case .byHand: found = try everyRow(workspace).filter { $0.name.contains(part) }.count
        }
        guard found > 0 else { throw CocoaError(.fileNoSuchFile) }
        print(ResidentMemory.status("VmHWM"), terminator: "")
        try factory.close()
    }

    private static func everyRow(_ workspace: Workspace) throws -> [Person] {
        var database, statement: OpaquePointer?
        let path = try workspace.folder("query-memory").appendingPathComponent("Archives.sqlite")
            .path
        guard sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK,
            sqlite3_prepare_v2(database, "SELECT bytes FROM entries", -1, &statement, nil)
                == SQLITE_OK
        else { throw CocoaError(.fileReadUnknown) }
        defer {
            sqlite3_finalize(statement)
            sqlite3_close_v2(database)
        }
        let decoder = CBORDecoder()
        var people: [Person] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            let bytes = UnsafeRawBufferPointer(
                start: sqlite3_column_blob(statement, 0),
                count: Int(sqlite3_column_bytes(statement, 0))
            )
            people.append(try decoder.decode(Person.self, from: Data(bytes)))
        }
        return people
    }

    private static func count(_ workspace: Workspace) -> Int {
        workspace.isQuick ? 20_000 : 100_000
    }

    private static func open(
        _ workspace: Workspace
    ) throws -> (factory: ArchivesFactory, store: ArchiveStore<Person>) {
        let factory = ArchivesFactory(directory: try workspace.folder("query-memory"))
        return (
            factory,
            try factory.store(for: Person.self, memoryLimit: 1.megaByte, diskLimit: 8.gigaByte)
        )
    }
}
