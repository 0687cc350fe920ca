import Foundation
import Tiers

/// A value that says of itself where it belongs: its archive, its key and its version stand in its bytes.
struct Specimen: Hashable, Sendable {
    var archive: String
    var key: String
    var version: Int
    var age: Int
    var tags: [String]
    var filler: String

    var bytes: Data { Data([archive, key, "\(version)", "\(age)", tags.joined(separator: ","), filler].joined(separator: "|").utf8) }

    struct Codec: Tiers.Codec {
        struct NoSpecimen: Error {}

        func encode(_ value: Specimen) -> Data { value.bytes }

        func decode(_ bytes: Data) throws -> Specimen {
            let parts = String(decoding: bytes, as: UTF8.self).split(separator: "|", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 6, let version = Int(parts[2]), let age = Int(parts[3]) else { throw NoSpecimen() }
            return Specimen(
                archive: parts[0], key: parts[1], version: version, age: age, tags: parts[4].split(separator: ",").map(String.init),
                filler: parts[5])
        }
    }

    /// Indexes on age, and on every tag.
    static var catalog: IndexCatalog<Specimen> {
        var catalog = IndexCatalog<Specimen>()
        catalog.addIndex([catalog.addColumn(\.age, name: "age")])
        catalog.addCollection(\Specimen.tags, name: "tags", of: String.self) { $0.tags }
        return catalog
    }

    /// Questions that the indexes answer.
    static var questions: [QueryDescription<Specimen>] {
        [
            QueryDescription([.filter(.test(Test(\Specimen.tags, .hasElement("even")) { $0.tags.contains("even") }))]),
            QueryDescription([
                .filter(
                    .test(
                        Test(\Specimen.age, .isBetween(lower: .init(30, isIncluded: true), upper: nil)) { $0.age >= 30 }))
            ]),
        ]
    }
}
