import Foundation
import Testing
import VellumEngine
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine
@testable import Vellum

/// A query returns the same with indexes, without them, during a migration, and from an array.
///
/// `VELLUM_FUZZ` is the number of pairs of data and query, `VELLUM_SEED` the seed of the random numbers.
@Suite(.timeLimit(.minutes(60)))
struct DifferentialTests {
    private static func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap(Int.init) }

    private static let queriesForEachArchive = 250
    private static let archives = (number("VELLUM_FUZZ") ?? 20_000) / queriesForEachArchive
    private static let firstSeed = number("VELLUM_SEED") ?? 1

    @Test func anIndexNeverChangesAResult() async throws {
        for number in 0..<Self.archives {
            await Task.yield()  // Others want to be tested, too.
            let seed = UInt64(Self.firstSeed + number)
            var random = SeededGenerator(seed: seed)
            let specimens = (0..<Int.random(in: 0...24, using: &random)).map { Specimen.random("key \($0)", &random) }
            var stores = try Stores(specimens)
            for turn in 0..<Self.queriesForEachArchive {
                if turn % 16 == 0 { try stores.raiseVersion() }
                let query = RandomQuery.random(&random)
                guard let complaint = try stores.complaint(query, specimens, asksMore: turn % 4 == 0) else { continue }
                let (smallest, fewest) = try Self.shrink(query, specimens)
                Issue.record(
                    """
                    seed \(seed) (VELLUM_SEED=\(seed) VELLUM_FUZZ=\(Self.queriesForEachArchive)): \(complaint)
                    \(query)
                    shrunk: \(smallest)
                    on \(fewest.count) objects: \(fewest)
                    """)
                return
            }
        }
    }

    /// Another version of a specimen, with the same bytes.
    private struct VersionedCodec: Codec {
        let version: Int64
        private let codec = ArchiveCodec<Specimen>()

        init(_ version: Int64) { self.version = version }

        func encode(_ specimen: Specimen) throws -> Data { try codec.encode(specimen) }
        func decode(_ bytes: Data) throws -> Specimen { try codec.decode(bytes) }
        func migrate(_ bytes: Data, from old: Int64, of key: EntryKey) throws -> Migration<Specimen> { .value(try decode(bytes)) }
    }

    /// The same objects in an archive with indexes, in one without them, and in one whose type changes again and again.
    private struct Stores {
        private let folder: TemporaryDirectory
        private let file: DatabaseFile
        private let indexed: Store<Specimen>
        private let plain: Store<Specimen>
        private var changing: Store<Specimen>
        private var version: Int64 = 0

        init(_ specimens: [Specimen]) throws {
            folder = try TemporaryDirectory()
            file = try DatabaseFile.open(at: folder.file("Archives.sqlite"))
            indexed = try Self.store("indexed", #require(try indexCatalog(of: Specimen.self)), in: file, specimens)
            plain = try Self.store("plain", IndexCatalog(), in: file, specimens)
            changing = try Self.store("changing", IndexCatalog(), in: file, specimens)
        }

        /// Opens the changing archive as the next version, which migrates its objects in the background.
        mutating func raiseVersion() throws {
            version += 1
            try changing.close()
            var catalog = version % 3 == 0 ? IndexCatalog<Specimen>() : try #require(try indexCatalog(of: Specimen.self))
            catalog.version = version
            changing = try file.store(
                named: "changing", codec: VersionedCodec(version), memory: Capacity(1.kiloByte), disk: Capacity(10.megaByte),
                indexing: catalog)
        }

        private static func store(
            _ name: String, _ catalog: IndexCatalog<Specimen>, in file: DatabaseFile, _ specimens: [Specimen]
        ) throws -> Store<Specimen> {
            let store = try file.store(
                named: name, codec: ArchiveCodec<Specimen>(), memory: Capacity(1.kiloByte), disk: Capacity(10.megaByte), indexing: catalog)
            var transaction = StoreTransaction()
            for specimen in specimens { try transaction.record(specimen, forKey: EntryKey(specimen.key), in: store) }
            try transaction.commit()
            return store
        }

        /// Returns a description of the difference, or `nil`.
        ///
        /// - Parameter asksMore: Whether to also count the objects and to fetch the first.
        func complaint(_ query: RandomQuery, _ specimens: [Specimen], asksMore: Bool = true) throws -> String? {
            let expected = query.answer(specimens).map(\.key)
            for (name, store) in [("with indexes", indexed), ("without", plain), ("of version \(version)", changing)] {
                let answer = try store.fetch(query.question).map(\.key)
                if answer != expected { return "\(name): \(answer), not \(expected)" }
                guard asksMore else { continue }
                let count = try store.count(query.question)
                if count != expected.count { return "\(name): \(count) counted, not \(expected.count)" }
                let first = try store.first(query.question)?.key
                if first != expected.first { return "\(name): \(first ?? "none") first, not \(expected.first ?? "none")" }
            }
            return nil
        }
    }

    /// Returns a smaller query and fewer objects that still fail.
    private static func shrink(_ query: RandomQuery, _ specimens: [Specimen]) throws -> (RandomQuery, [Specimen]) {
        var (query, specimens) = (query, specimens)
        func fails(_ query: RandomQuery, _ specimens: [Specimen]) throws -> Bool {
            try Stores(specimens).complaint(query, specimens) != nil
        }
        var isShrinking = true
        while isShrinking {
            isShrinking = false
            while let smaller = try query.smaller.first(where: { try fails($0, specimens) }) { (query, isShrinking) = (smaller, true) }
            for index in specimens.indices.reversed() {
                var fewer = specimens
                fewer.remove(at: index)
                if try fails(query, fewer) { (specimens, isShrinking) = (fewer, true) }
            }
        }
        return (query, specimens)
    }
}
