import Foundation
import Vellum

/// Counts how often objects are encoded and decoded, by key. Each test uses its own key.
///
/// Unchecked because `counts` is protected by `lock`.
final class WorkLog: @unchecked Sendable {
    static let shared = WorkLog()

    struct Work: Equatable {
        var encodes = 0
        var decodes = 0
    }

    private let lock = NSLock()
    private var counts: [String: Work] = [:]

    func encode(_ key: String) -> Data {
        lock.withLock { counts[key, default: Work()].encodes += 1 }
        return Data(key.utf8)
    }

    func decode(_ data: Data) -> String {
        let key = String(decoding: data, as: UTF8.self)
        lock.withLock { counts[key, default: Work()].decodes += 1 }
        return key
    }

    /// A debug build decodes the first object of each type, to compare it. Called before the work
    /// of others is counted.
    static func warmUp() throws { try warmedUp.get() }

    private static let warmedUp = Result {
        let factory = ArchivesFactory.inMemory()
        try factory.store(for: CountedStruct.self).record(CountedStruct(primaryKey: "first"))
        try factory.store(for: CountedClass.self).record(CountedClass("first"))
        try factory.store(for: CountedSendableClass.self).record(CountedSendableClass("first"))
        try factory.store(for: CountedUnsendable.self).record(
            CountedUnsendable(note: Note("first"))
        )
    }

    func of(_ key: String) -> Work { lock.withLock { counts[key] ?? Work() } }
}

/// A `Sendable` struct: memory keeps its value.
struct CountedStruct: Archivable {
    var primaryKey: String

    func archive() throws -> Data { WorkLog.shared.encode(primaryKey) }

    static func deArchive(fromData data: Data) throws -> any Archivable {
        CountedStruct(primaryKey: WorkLog.shared.decode(data))
    }
}

/// A class: memory keeps its data.
class CountedClass: Archivable {
    let primaryKey: String

    init(_ primaryKey: String) { self.primaryKey = primaryKey }

    func archive() throws -> Data { WorkLog.shared.encode(primaryKey) }

    static func deArchive(fromData data: Data) throws -> any Archivable {
        CountedClass(WorkLog.shared.decode(data))
    }
}

/// A final class that is `Sendable`: memory keeps its data.
final class CountedSendableClass: Archivable, Sendable {
    let primaryKey: String

    init(_ primaryKey: String) { self.primaryKey = primaryKey }

    func archive() throws -> Data { WorkLog.shared.encode(primaryKey) }

    static func deArchive(fromData data: Data) throws -> any Archivable {
        CountedSendableClass(WorkLog.shared.decode(data))
    }
}

/// A struct that is not `Sendable`: memory keeps its data.
struct CountedUnsendable: Archivable {
    var primaryKey: String { note.title }
    var note: Note

    func archive() throws -> Data { WorkLog.shared.encode(primaryKey) }

    static func deArchive(fromData data: Data) throws -> any Archivable {
        CountedUnsendable(note: Note(WorkLog.shared.decode(data)))
    }
}
