import Foundation
import Vellum

// Shared by the tests of this folder. Compiled in three modes, so the isolation of each type is
// explicit.

/// A temporary folder with archives and a manual clock. Deleted with the object.
nonisolated final class TemporaryArchives: Sendable {
    let directory: URL
    let clock = HandClock()
    let factory: ArchivesFactory

    init() {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent(
            "Parity-\(UUID().uuidString)/Archives",
            isDirectory: true
        )
        factory = ArchivesFactory(directory: directory, clock: clock.wallClock)
    }

    deinit {
        try? factory.close()
        try? FileManager.default.removeItem(at: directory.deletingLastPathComponent())
    }
}

/// A clock that changes only when a test advances it. Unchecked because `milliseconds` is protected
/// by `lock`.
nonisolated final class HandClock: @unchecked Sendable {
    private let lock = NSLock()
    private var milliseconds: Int64 = 1_700_000_000_000

    var wallClock: WallClock { WallClock { self.now } }
    var now: Date { lock.withLock { Date(timeIntervalSince1970: Double(milliseconds) / 1000) } }

    func advance(bySeconds seconds: Int64) { lock.withLock { milliseconds += seconds * 1000 } }
}

/// A counter. Unchecked because `value` is protected by `lock`.
nonisolated final class Tally: @unchecked Sendable {
    private let lock = NSLock()
    private var value = 0

    var count: Int { lock.withLock { value } }

    func add() { lock.withLock { value += 1 } }
}

/// An object of a given size in bytes.
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
