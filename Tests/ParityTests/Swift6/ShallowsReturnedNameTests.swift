import Foundation
import Shallows
import TestThreads
import Testing

/// Names of the shipped code of Shallows that have a better one now. `Names.md` lists them all.
@Suite(.ownThreads)
struct ShallowsReturnedNameTests {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
        "Parity-\(UUID().uuidString)",
        isDirectory: true
    )

    @available(*, deprecated)
    @Test func resultsAreMadeByFunctions() throws {
        let failure: ShallowsResult<Int> = fail(with: ValueValidationError())
        let success: ShallowsResult<Int> = succeed(with: 1)
        #expect(throws: ValueValidationError.self) { try failure.get() }
        #expect(try success.get() == 1)
    }

    @available(*, deprecated)
    @Test func aFunctionThatReturnsNilThrows() async throws {
        let numbers = MemoryStorage<String, String>(storage: ["one": "1", "none": "?"])
            .mapValues(transformIn: throwing { Int($0) }, transformOut: { "\($0)" })
        #expect(try await numbers.retrieve(forKey: "one") == 1)
        await #expect(throws: Optional<Int>.UnwrapError.self) {
            try await numbers.retrieve(forKey: "none")
        }
    }

    @available(*, deprecated)
    @Test func theLogIsSwitchedOn() {
        #expect(!ShallowsLog.isEnabled)
        ShallowsLog.isEnabled = true
        #expect(ShallowsLog.isEnabled)
        ShallowsLog.isEnabled = false
    }

    @available(*, deprecated)
    @Test func aValueIsReadAndChangedUnderALock() {
        var safe = ThreadSafe([1])
        safe.write { $0.append(2) }
        #expect(safe.read() == [1, 2])
        safe.write([3])
        #expect(safe.read() == [3])
    }

    @available(*, deprecated)
    @Test func bytesAreDescribedAsText() {
        #expect("\(StringPrinted(wrappedValue: Data("text".utf8)))" == "text")
        #expect("\(StringPrinted(wrappedValue: Data([0xFF])))" == "__raw-unmappable-data__")
    }

    @available(*, deprecated)
    @Test func storagesHaveErrorsOfTheirOwn() {
        let errors: [any Error] = [
            DiskStorage.Error.cantCreateFile,
            DiskStorage.Error.cantCreateDirectory(ValueValidationError()),
            NSCacheStorage<NSString, NSString>.Error.noValue("key"),
        ]
        #expect(errors.count == 3)
    }

    @available(*, deprecated)
    @Test func singleCallsInvolveASecondStorage() async throws {
        let front = MemoryStorage<String, Int>()
        let back = MemoryStorage<String, Int>(storage: ["back": 1])
        let dev: Storage<String, Int>.Dev = front.dev
        let found = try await withCheckedThrowingContinuation { continuation in
            dev.retrieve(forKey: "back", backedBy: back) { continuation.resume(with: $0) }
        }
        #expect(found == 1)
        #expect(front.storage == ["back": 1])
        try await withCheckedThrowingContinuation { continuation in
            dev.set(2, forKey: "front", pushingTo: back) { continuation.resume(with: $0) }
        }
        #expect(back.storage == ["back": 1, "front": 2])
    }

    // MARK: A folder over another storage

    @Test func aFolderMayBeOverAStorageOfURLs() async throws {
        let files = MemoryStorage<URL, Data>()
        let folder = DiskFolderStorage(
            folderURL: directory,
            diskStorage: files.asStorage(),
            filenameEncoder: .noEncoding
        )
        try await folder.set(Data("1".utf8), forKey: "one")

        #expect(files.storage == [directory.appendingPathComponent("one"): Data("1".utf8)])
        #expect(try await folder.retrieve(forKey: "one") == Data("1".utf8))
        #expect(folder.storageName == "disk-\(directory.lastPathComponent)")
        await #expect(throws: MemoryStorageError.self) { try await folder.retrieve(forKey: "two") }
        // What has no place in the folder is not led out of it.
        try await folder.set(Data(), forKey: "../two")
        #expect(
            files.storage.keys.allSatisfy { $0.standardizedFileURL.path.hasPrefix(directory.path) }
        )
        await #expect(throws: ShallowsError.self) { try await folder.remove(forKey: "one") }
    }

    @Test func aFolderInADirectoryMayBeOverAStorageOfURLs() async throws {
        let name = UUID().uuidString
        let folder = DiskFolderStorage.inDirectory(
            .cachesDirectory,
            folderName: name,
            diskStorage: DiskStorage.main.asStorage(),
            filenameEncoder: .base64
        )
        try await folder.set(Data("1".utf8), forKey: "one")

        let plain = DiskStorage.main.folder(name, in: .cachesDirectory)
        #expect(folder.folderURL == plain.folderURL)
        #expect(folder.folderURL == DiskFolderStorage.url(forFolder: name, in: .cachesDirectory))
        #expect(try await plain.retrieve(forKey: "one") == Data("1".utf8))
        folder.clear()
        #expect(!FileManager.default.fileExists(atPath: folder.folderURL.path))
    }

    // MARK: Names that no document shows

    @Test func fileNamesAreMadeOfKeys() {
        let keys = [
            Filename(stringLiteral: "o?>"), Filename(unicodeScalarLiteral: "o"),
            Filename(extendedGraphemeClusterLiteral: "o"),
            Filename(rawValue: "o?>"),
        ]
        #expect(keys[0].base64Encoded() == "bz8+")
        #expect(keys[0].base64URLEncoded() == "bz8-")
        #expect(keys[0].hashValue == keys[3].hashValue)
        let encoders: [Filename.Encoder] = [
            .base64, .base64URL, .noEncoding, .custom { $0.rawValue + ".txt" },
        ]
        #expect(
            encoders.map { $0.encodedString(representing: keys[0]) } == [
                "bz8+", "bz8-", "o?>", "o?>.txt",
            ]
        )
    }

    @Test func filesMayNeedTheirFolder() async throws {
        let files = DiskStorage(creatingDirectories: false)
        let file = directory.appendingPathComponent("file")
        #expect(DiskStorage.directoryURL(of: file).path == directory.path)
        #expect(files.storageName == "disk")
        await #expect(throws: (any Error).self) { try await files.set(Data(), forKey: file) }
        let folder = DiskStorage.folder(
            "unused-\(UUID().uuidString)",
            in: .cachesDirectory,
            domainMask: .userDomainMask,
            filenameEncoder: .base64
        )
        #expect(folder.storageName.hasPrefix("disk-unused-"))
    }

    @Test func bothErrorsOfAZipAreInItsError() async throws {
        let zipped = zip(
            MemoryStorage<String, Int>(),
            MemoryStorage<String, Int>(storage: ["a": 1])
        )
        let error = await #expect(throws: ZippedResultError.self) {
            try await zipped.retrieve(forKey: "a")
        }
        #expect(error?.left is MemoryStorageError)
        #expect(error?.right == nil)
        #expect(ZippedResultError(left: nil, right: nil).left == nil)
    }
}
