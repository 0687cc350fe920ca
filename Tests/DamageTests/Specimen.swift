import Foundation
import VellumCore
import VellumEngine

/// A value whose bytes contain its archive, its key and its version.
///
/// Consists only of its bytes, so that reading one costs no more than comparing them.
struct Specimen: Hashable, Sendable {
    let bytes: Data

    init(bytes: Data) { self.bytes = bytes }

    init(archive: String, key: String, version: Int, age: Int, tags: [String], filler: String) {
        bytes = Data(
            [archive, key, "\(version)", "\(age)", tags.joined(separator: ","), filler].joined(
                separator: "|"
            ).utf8
        )
    }

    private func part(_ number: Int) -> String {
        let parts = bytes.split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false)
        return parts.count > number ? String(decoding: parts[number], as: UTF8.self) : ""
    }

    var archive: String { part(0) }
    var key: String { part(1) }
    var age: Int { Int(part(3)) ?? 0 }
    var tags: [String] { part(4).split(separator: ",").map(String.init) }

    struct Codec: VellumEngine.Codec {
        func encode(_ value: Specimen) -> Data { value.bytes }
        func decode(_ bytes: Data) -> Specimen { Specimen(bytes: bytes) }
    }

    /// Indexes on age and on every tag.
    static var catalog: IndexCatalog<Specimen> {
        var catalog = IndexCatalog<Specimen>()
        catalog.addIndex([catalog.addColumn(\.age, name: "age")])
        catalog.addCollection(\Specimen.tags, name: "tags", of: String.self) { $0.tags }
        return catalog
    }

    /// Queries that the indexes answer.
    static var questions: [QueryDescription<Specimen>] {
        [
            QueryDescription([
                .filter(
                    .test(Test(\Specimen.tags, .hasElement(["even"])) { $0.tags.contains("even") })
                )
            ]),
            QueryDescription([
                .filter(
                    .test(
                        Test(
                            \Specimen.age,
                            .isBetween(lower: .init(30, isIncluded: true), upper: nil)
                        ) { $0.age >= 30 }
                    )
                )
            ]),
        ]
    }
}
