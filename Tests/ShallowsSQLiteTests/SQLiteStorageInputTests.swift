import Foundation
import ShallowsSQLite
import TestThreads
import Testing
import VellumCore
import VellumTestSupport

/// FN10: the rows of the table of parameters that storages on a file have.
@Suite(.ownThreads)
struct SQLiteStorageInputTests {
    private static func expect(_ isTrue: Bool, _ what: String) throws {
        guard isTrue else { throw VellumError(.failedQuery, what) }
    }

    private static func setting(
        _ options: SQLiteStorageOptions,
        at file: URL? = nil
    ) async throws -> Bool {
        let folder = try TemporaryDirectory()
        var still = options
        still.clock = ManualClock().wallClock
        let storage = SQLiteStorage<Data>(
            fileURL: file ?? folder.file("storage.sqlite"),
            options: still
        )
        try await storage.set(Data([1]), forKey: "a")
        do {
            _ = try await storage.retrieve(forKey: "a")
            return true
        } catch is any StorageMiss { return false }
    }

    static let table: [InputCase] = [
        InputCase(
            "SQLiteStorageOptions.init memoryLimit",
            "SQLiteStorageOptions.init diskLimit",
            "SQLiteStorageOptions.memoryLimit",
            "SQLiteStorageOptions.diskLimit",
            of: HostileInput.sizes,
            throwing: HostileInput.isValid
        ) { size in
            for options in [
                SQLiteStorageOptions(memoryLimit: size), SQLiteStorageOptions(diskLimit: size),
            ] {
                try expect(try await setting(options), "\(size)")
            }
        },
        InputCase(
            "SQLiteStorageOptions.init expiration",
            "SQLiteStorageOptions.expiration",
            of: HostileInput.seconds,
            throwing: HostileInput.isValid
        ) { seconds in
            try expect(
                try await setting(SQLiteStorageOptions(expiration: .after(seconds: seconds)))
                    == (seconds > 0),
                "\(seconds)"
            )
        },
        InputCase("SQLiteStorage.keys limit", of: HostileInput.counts) { limit in
            let folder = try TemporaryDirectory()
            let storage = SQLiteStorage<Data>(fileURL: folder.file("storage.sqlite"))
            for key in HostileInput.keys {
                try await storage.set(Data(), forKey: Filename(rawValue: key))
            }
            try expect(
                try await storage.keys(limit: limit).count
                    == min(HostileInput.keys.count, max(0, limit)),
                "\(limit)"
            )
        },
        InputCase(
            "SQLiteStorage.init fileURL",
            of: ["https://example.com/a", "data:,", "a", "file:///dev/null/a", "file:///proc/a/b"],
            throwing: { _ in .cannotOpen }
        ) { text in
            guard let url = URL(string: text) else { return }
            _ = try await setting(SQLiteStorageOptions(), at: url)
        },
        InputCase("SQLiteStorage.init fileURL", of: HostileInput.names) { name in
            // Whatever the file system and Foundation make of the name: a value, or an error.
            let folder = try TemporaryDirectory()
            do {
                _ = try await setting(
                    SQLiteStorageOptions(),
                    at: folder.url.appendingPathComponent("x").appendingPathComponent(name)
                )
            } catch let error as ShallowsError where error.code == .cannotOpen {}
        },
        // Opens nothing: that would be among the user's files.
        InputCase("SQLiteStorage.init _", of: HostileInput.names) { name in
            let storage = SQLiteStorage<Data>(name, in: .cachesDirectory)
            _ = (storage.storageName, storage.fileURL.path)
        },
    ]

    @Test(arguments: table) func aParameterTakesAnyValue(_ row: InputCase) async {
        let problems = await row.problems()
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    }
}

extension ShallowsError: CodedError {}
