import Foundation
import Testing
import VellumEngine
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine
@testable import Vellum

/// The same objects in an archive with indexes, in one without them, and in one whose type changes
/// again and again.
struct DifferentialStores<Object: ArchiveCodable & IndexedArchivable> {
    private let folder: TemporaryDirectory
    private let file: DatabaseFile
    private let indexed: Store<Object>
    private let plain: Store<Object>
    private var changing: Store<Object>
    private var version: Int64 = 0

    init(_ objects: [Object]) throws {
        folder = try TemporaryDirectory()
        file = try DatabaseFile.open(at: folder.file("Archives.sqlite"))
        indexed = try Self.store(
            "indexed",
            #require(try indexCatalog(of: Object.self)),
            in: file,
            objects
        )
        plain = try Self.store("plain", IndexCatalog(), in: file, objects)
        changing = try Self.store("changing", IndexCatalog(), in: file, objects)
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
            codec: VersionedCodec(version),
            memory: Capacity(1.kiloByte),
            disk: Capacity(10.megaByte),
            indexing: catalog
        )
    }

    private static func store(
        _ name: String,
        _ catalog: IndexCatalog<Object>,
        in file: DatabaseFile,
        _ objects: [Object]
    ) throws -> Store<Object> {
        let store = try file.store(
            named: name,
            codec: ArchiveCodec<Object>(),
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
    /// - Parameter asksMore: Whether to also count the objects and to fetch the first.
    func complaint(
        _ query: QueryDescription<Object>,
        _ expected: [Object],
        asksMore: Bool = true
    ) throws -> String? {
        let expected = expected.map { $0.primaryKey }
        for (name, store) in [
            ("with indexes", indexed), ("without", plain), ("of version \(version)", changing),
        ] {
            let answer = try store.fetch(query).map { $0.primaryKey }
            if answer != expected { return "\(name): \(answer), not \(expected)" }
            guard asksMore else { continue }
            let count = try store.count(query)
            if count != expected.count { return "\(name): \(count) counted, not \(expected.count)" }
            let first = try store.first(query)?.primaryKey
            if first != expected.first {
                return "\(name): \(first ?? "none") first, not \(expected.first ?? "none")"
            }
        }
        return nil
    }
}

/// Another version of an object, with the same bytes.
private struct VersionedCodec<Object: ArchiveCodable>: Codec {
    let version: Int64
    private let codec = ArchiveCodec<Object>()

    init(_ version: Int64) { self.version = version }

    func encode(_ object: Object) throws -> Data { try codec.encode(object) }
    func decode(_ bytes: Data) throws -> Object { try codec.decode(bytes) }
    func migrate(_ bytes: Data, from old: Int64, of key: EntryKey) throws -> Migration<Object> {
        .value(try decode(bytes))
    }
}
