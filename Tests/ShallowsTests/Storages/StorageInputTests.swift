import Foundation
import Shallows
import TestThreads
import Testing
import VellumCore
import VellumTestSupport

/// FN10: the rows of the table of parameters that storages have.
@Suite(.ownThreads)
struct StorageInputTests {
    private static func expect(_ isTrue: Bool, _ what: String) throws {
        guard isTrue else { throw VellumError(.failedQuery, what) }
    }

    /// A clock that stands still.
    private static let clock = ManualClock().wallClock

    private static func isThere(
        _ storage: some ReadableStorageProtocol<String, Data>
    ) async throws -> Bool {
        do {
            _ = try await storage.retrieve(forKey: "a")
            return true
        } catch is any StorageMiss { return false }
    }

    static let table: [InputCase] = [
        InputCase(
            "LRUStorage.init maxCount",
            of: HostileInput.counts,
            throwing: { $0 > 0 ? nil : .invalidLimit }
        ) { count in
            let storage = try LRUStorage<String, Data>(maxCount: count)
            try await storage.set(Data([1]), forKey: "a")
            try await storage.set(Data([1]), forKey: "b")
            try expect(storage.totals.entries == min(count, 2), "\(count)")
        },
        InputCase(
            "LRUStorage.init maxBytes",
            of: HostileInput.sizes,
            throwing: HostileInput.isValid
        ) { size in
            try await LRUStorage<String, Data>(maxBytes: size).set(Data([1]), forKey: "a")
            for weight in HostileInput.counts {
                let storage = try LRUStorage<String, Data>(maxBytes: size) { _ in weight }
                for key in ["a", "b", "c"] { try await storage.set(Data([1]), forKey: key) }
                try expect(
                    storage.totals.bytes >= 0 && storage.totals.bytes <= size.bytes,
                    "\(weight)"
                )
            }
        },
        InputCase(
            "LRUStorage.init capacity",
            "LRUStorage.capacity",
            of: HostileInput.sizes,
            throwing: HostileInput.isValid
        ) { size in
            let storage = LRUStorage<String, Data>(
                capacity: try Capacity(size, entries: 1),
                size: \.count
            )
            try await storage.set(Data([1]), forKey: "a")
            storage.capacity = .unlimited
        },
        InputCase("LRUStorage.trim toBytes", of: HostileInput.sizes) { size in
            let storage = try LRUStorage<String, Data>(maxCount: 10)
            storage.trim(toBytes: size)
            try await storage.set(Data([1]), forKey: "a")
            storage.trim(toBytes: size)
        },
        InputCase("LRUStorage.trim toCount", of: HostileInput.counts) { count in
            let storage = try LRUStorage<String, Data>(maxCount: 10)
            try await storage.set(Data([1]), forKey: "a")
            storage.trim(toCount: count)
            try expect(storage.totals.entries == min(1, max(0, count)), "\(count)")
        },
        InputCase("LRUStorage.trimsUnderMemoryPressure toFraction", of: HostileInput.seconds) {
            fraction in
            let storage = try LRUStorage<String, Data>(maxCount: 10)
            for key in ["a", "b"] { try await storage.set(Data([1]), forKey: key) }
            // Not a number says nothing: half of them stay.
            storage.trimsUnderMemoryPressure(toFraction: fraction)
            storage.release(under: .warning)
            let left = fraction.isNaN ? 1 : Int(2 * min(1, max(0, fraction)))
            try expect(storage.totals.entries == left, "\(fraction)")
        },
        InputCase(
            "LRUStorage.init expiration",
            of: HostileInput.seconds,
            throwing: HostileInput.isValid
        ) { seconds in
            let expiration = Expiration.after(seconds: seconds)
            // This one cannot throw: with NaN, values have expired at once.
            let storage = LRUStorage<String, Data>(
                capacity: .unlimited,
                expiration: expiration,
                clock: clock,
                size: \.count
            )
            try await storage.set(Data(), forKey: "a")
            try expect(await isThere(storage) == (seconds > 0), "\(seconds)")
            _ = try (
                LRUStorage<String, Data>(maxCount: 1, expiration: expiration),
                LRUStorage<String, Data>(maxBytes: 1, expiration: expiration)
            )
        },
        InputCase(
            "ErasableStorage.expiring after",
            "MemoryStorage.expiring after",
            of: HostileInput.durations
        ) { age in
            let memory = MemoryStorage<String, Data>()
            let storages = [
                memory.asStorage().expiring(after: age, clock: clock),
                memory.expiring(after: age, clock: clock),
            ]
            for storage in storages {
                try await storage.set(Data(), forKey: "a")
                try expect(await isThere(storage) == (age > .zero), "\(age)")
            }
        },
        InputCase(
            "ErasableStorage.renaming to",
            "ErasableStorage.loading named",
            "AnySyncStorage.init storageName",
            "StorageFamily.Erased.init storageName",
            "ShallowsError.init _",
            "ShallowsError.init layer",
            "ShallowsError.miss layer",
            "ShallowsError.message",
            "ShallowsError.layer",
            "ShallowsError.succeededLayers",
            "ZippedResultError.init succeededLayers",
            of: HostileInput.names
        ) { name in
            let storage = MemoryStorage<String, Data>().renaming(to: name)
            try expect(storage.storageName == name, "renaming")
            _ =
                """
                \(ShallowsError(.failed, name, layer: name)) \
                \(ShallowsError.miss(forKey: name, layer: name))
                """
            let loading = storage.loading(named: name) { _ in Data() }
            try expect(await isThere(loading), "loading")
            let made = ReadOnlyStorage<String, Data>(
                storageName: name,
                retrieve: { (_: String) async throws -> Data in Data() }
            )
            _ =
                AnySyncStorage<StorageKind.ReadOnly, String, Data>(
                    storageName: name,
                    retrieve: { _ in Data() }
                ).storageName
            try expect(await isThere(made), "made")
        },
        InputCase(
            "DiskFolderStorage.init folderURL",
            "DiskStorage.directoryURL of",
            "Filename.init rawValue",
            "Filename.init stringLiteral",
            "Filename.init unicodeScalarLiteral",
            "Filename.init extendedGraphemeClusterLiteral",
            "Filename.rawValue",
            "DiskFolderStorage.fileURL forFilename",
            of: HostileInput.names
        ) { name in
            let folder = try TemporaryDirectory()
            let storage = DiskFolderStorage(folderURL: folder.url)
            let file = storage.fileURL(forFilename: Filename(rawValue: name))
            try expect(DiskStorage.directoryURL(of: file).path == folder.url.path, file.path)
            try await storage.set(Data([1]), forKey: Filename(rawValue: name))
            try expect(
                try await storage.retrieve(forKey: Filename(stringLiteral: name)) == Data([1]),
                name
            )
        },
        InputCase(
            "DiskFolderStorage.inDirectory folderName",
            "DiskFolderStorage.url forFolder",
            "DiskStorage.folder _",
            of: HostileInput.names
        ) { name in
            // Makes no folder, and reads nothing.
            let url = DiskFolderStorage.url(forFolder: name, in: .cachesDirectory)
            _ = (url.path, DiskStorage.main.folder(name, in: .cachesDirectory).storageName)
            _ =
                DiskFolderStorage.inDirectory(
                    .cachesDirectory,
                    folderName: name,
                    diskStorage: MemoryStorage<URL, Data>().asStorage(),
                    filenameEncoder: .base64
                ).storageName
        },
        InputCase(
            "DiskFolderStorage.init folderURL",
            of: ["https://example.com/a", "data:,", "file:///dev/null/a", "a"],
            throwing: { _ in .inputOutput }
        ) { text in
            guard let url = URL(string: text) else {
                throw ShallowsError(.inputOutput, text, layer: "")
            }
            try await DiskFolderStorage(folderURL: url).set(Data(), forKey: "a")
        },
    ]

    @Test(arguments: table) func aParameterTakesAnyValue(_ row: InputCase) async {
        let problems = await row.problems()
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    }
}

extension ShallowsError: CodedError {}
