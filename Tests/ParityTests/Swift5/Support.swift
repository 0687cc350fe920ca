import Foundation
import Vellum

// What the tests of this folder share. Compiled in three modes, so nothing here leaves its isolation to the default.

/// A folder of a test's own and the archives in it, with a clock that only the test moves. Removed with the object.
nonisolated final class TemporaryArchives: Sendable {
    let directory: URL
    let clock = HandClock()
    let factory: ArchivesFactory

    init() {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("Parity-\(UUID().uuidString)", isDirectory: true)
        factory = ArchivesFactory(directory: directory, clock: clock.wallClock)
    }

    deinit {
        try? factory.close()
        try? FileManager.default.removeItem(at: directory)
    }
}

/// A clock that stands still until a test moves it. Unchecked because `milliseconds` is protected by `lock`.
nonisolated final class HandClock: @unchecked Sendable {
    private let lock = NSLock()
    private var milliseconds: Int64 = 1_700_000_000_000

    var wallClock: WallClock { WallClock { self.now } }
    var now: WallInstant { lock.withLock { WallInstant(rawValue: milliseconds) } }

    func advance(bySeconds seconds: Int64) { lock.withLock { milliseconds += seconds * 1000 } }
}

/// How often something happened. Unchecked because `value` is protected by `lock`.
nonisolated final class Tally: @unchecked Sendable {
    private let lock = NSLock()
    private var value = 0

    var count: Int { lock.withLock { value } }

    func add() { lock.withLock { value += 1 } }
}

/// An object that is exactly as large as a test says.
struct Parcel: Archivable, Equatable {
    var primaryKey: String
    var size: Int

    init(_ primaryKey: String, size: Int) {
        self.primaryKey = primaryKey
        self.size = size
    }

    func archive() throws -> Data {
        Data(primaryKey.utf8) + Data(repeating: 0x20, count: size - primaryKey.utf8.count)
    }

    static func deArchive(fromData data: Data) throws -> Archivable {
        let key = data.prefix { $0 != 0x20 }
        return Parcel(String(decoding: key, as: UTF8.self), size: data.count)
    }
}
