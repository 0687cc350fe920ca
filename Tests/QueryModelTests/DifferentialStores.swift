import Foundation
import RawDatabase
import Testing
import VellumEngine
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine
@testable import Vellum

/// Objects that a program cannot read any more, by their keys: a release has removed a case of an
/// enumeration, a newer program has recorded them, or their entries are damaged.
struct LostObjects {
    var refused: Set<String> = []
    var newer: Set<String> = []
    var damaged: Set<String> = []

    var keys: Set<String> { refused.union(newer).union(damaged) }
    /// Whether a query of all of them is an error, unless it skips some.
    var areErrors: Bool { !refused.isEmpty || !newer.isEmpty }

    func among(_ keys: [String]) -> LostObjects {
        LostObjects(
            refused: refused.intersection(keys),
            newer: newer.intersection(keys),
            damaged: damaged.intersection(keys)
        )
    }

    static func random(of keys: [String], _ random: inout SeededGenerator) -> LostObjects {
        var lost = LostObjects()
        for key in keys {
            switch Int.random(in: 0..<16, using: &random) {
            case 0: lost.refused.insert(key)
            case 1: lost.newer.insert(key)
            case 2: lost.damaged.insert(key)
            default: break
            }
        }
        return lost
    }
}

/// The same objects in an archive with indexes, in one without them, and in one whose type changes
/// again and again. Some of them are lost after they were recorded.
struct DifferentialStores<Object: ArchiveCodable & IndexedArchivable> {
    private let folder: TemporaryDirectory
    private let file: DatabaseFile
    private let lost: LostObjects
    private let release = Release()
    private let indexed: Store<Object>
    private let plain: Store<Object>
    private var changing: Store<Object>
    private var version: Int64 = 0
    /// Whether the archive with indexes has read them all. Before, an index counts lost objects.
    private var haveMet: Bool

    init(_ objects: [Object], lost: LostObjects = LostObjects()) throws {
        folder = try TemporaryDirectory()
        file = try DatabaseFile.open(at: folder.file("Archives.sqlite"))
        self.lost = lost.among(objects.map(\.primaryKey))
        haveMet = lost.keys.isEmpty
        let codec = ChangingCodec<Object>(version: 0, lost: self.lost, release: release)
        let catalog = try #require(try indexCatalog(of: Object.self))
        indexed = try Self.store("indexed", catalog, in: file, codec, objects)
        plain = try Self.store("plain", IndexCatalog(), in: file, codec, objects)
        changing = try Self.store("changing", IndexCatalog(), in: file, codec, objects)
        release.begin()
        for store in [indexed, plain, changing] {
            for key in lost.damaged {
                let id = store.disk.archive.id
                _ = try RawDatabase(file.url).damageEntries(
                    withKey: Data(key.utf8),
                    from: EntryID.zero(of: id),
                    to: EntryID.end(of: id)
                )
            }
        }
    }

    mutating func meetLostObjects() throws {
        guard !haveMet else { return }
        _ = try indexed.fetch(QueryDescription(), undecodable: .skip)
        haveMet = true
    }

    /// Opens the changing archive as the next version, which migrates its objects in the
    /// background.
    mutating func raiseVersion() throws {
        version += 1
        try changing.close()
        var catalog =
            version % 3 == 0
            ? IndexCatalog<Object>() : try #require(try indexCatalog(of: Object.self))
        catalog.version = version
        changing = try file.store(
            named: "changing",
            codec: ChangingCodec(version: version, lost: lost, release: release),
            memory: Capacity(1.kiloByte),
            disk: Capacity(10.megaByte),
            indexing: catalog
        )
    }

    private static func store(
        _ name: String,
        _ catalog: IndexCatalog<Object>,
        in file: DatabaseFile,
        _ codec: ChangingCodec<Object>,
        _ objects: [Object]
    ) throws -> Store<Object> {
        let store = try file.store(
            named: name,
            codec: codec,
            memory: Capacity(1.kiloByte),
            disk: Capacity(10.megaByte),
            indexing: catalog
        )
        var transaction = StoreTransaction()
        for object in objects {
            try transaction.record(object, forKey: EntryKey(object.primaryKey), in: store)
        }
        try transaction.commit()
        return store
    }

    /// Returns a description of the difference, or `nil`.
    ///
    /// - Parameters:
    ///   - expected: The result of those that are not lost.
    ///   - asksMore: Whether to also count the objects and to fetch the first.
    func complaint(
        _ query: QueryDescription<Object>,
        _ expected: [Object],
        asksMore: Bool = true
    ) throws -> String? {
        let expected = expected.map { $0.primaryKey }
        let skips = query.steps.contains { if case .skip = $0 { true } else { false } }
        let hasLimit = query.steps.contains { if case .limit = $0 { true } else { false } }
        for (name, store) in [
            ("with indexes", indexed), ("without", plain), ("of version \(version)", changing),
        ] {
            let isExact = haveMet || name != "with indexes"
            guard isExact || !skips else { continue }
            let answer = try store.fetch(query, undecodable: .skip).map { $0.primaryKey }
            if answer != expected { return "\(name): \(answer), not \(expected)" }
            guard asksMore else { continue }
            let first = try store.first(query, undecodable: .skip)?.primaryKey
            if first != expected.first {
                return "\(name): \(first ?? "none") first, not \(expected.first ?? "none")"
            }
            if try store.exists(query, undecodable: .skip) == expected.isEmpty {
                return "\(name): exists is \(expected.isEmpty)"
            }
            guard isExact else { continue }
            let count = try store.count(query, undecodable: .skip)
            if count != expected.count { return "\(name): \(count) counted, not \(expected.count)" }
            guard !hasLimit else { continue }
            if isError({ _ = try store.fetch(query) }) != lost.areErrors
                || isError({ _ = try store.count(query) }) != lost.areErrors
            {
                return "\(name): \(lost.areErrors ? "no error" : "an error")"
            }
        }
        return nil
    }

    private func isError(_ body: () throws -> Void) -> Bool {
        do {
            try body()
            return false
        } catch {
            return (error as? VellumError)?.isOfDecoding == true
        }
    }
}

/// Whether the program is the next release, which cannot decode some objects.
private final class Release: Sendable {
    private let begun = Locked(false)
    var hasBegun: Bool { begun.withLock { $0 } }
    func begin() { begun.withLock { $0 = true } }
}

/// A version of an object, with the same bytes.
private struct ChangingCodec<Object: ArchiveCodable>: Codec {
    let version: Int64
    let lost: LostObjects
    let release: Release
    private let codec = ArchiveCodec<Object>()

    init(version: Int64, lost: LostObjects, release: Release) {
        self.version = version
        self.lost = lost
        self.release = release
    }

    func version(of object: Object) -> Int64 {
        lost.newer.contains(object.primaryKey) ? 1 << 20 : version
    }

    func encode(_ object: Object) throws -> Data { try codec.encode(object) }

    func decode(_ bytes: Data) throws -> Object {
        let object = try codec.decode(bytes)
        if release.hasBegun, lost.refused.contains(object.primaryKey) {
            throw CocoaError(.coderInvalidValue)
        }
        return object
    }

    func migrate(_ bytes: Data, from old: Int64, of key: EntryKey) throws -> Migration<Object> {
        guard old < version else { throw VellumError.newerVersion(old, than: version) }
        return .value(try decode(bytes))
    }
}
