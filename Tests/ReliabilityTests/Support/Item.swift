import Foundation
import VellumCore
import VellumEngine

/// The objects in the archives of these tests.
struct Item: Codable, Equatable, Sendable {
    var group: String
    var tags: [String]
    var text: String

    /// A unique value: its bytes contain its number wherever they are torn.
    init(_ number: Int, length: Int) {
        group = "g\(number % 3)"
        tags = ["all", "t\(number % 5)"]
        let word = "\(number),"
        text = String(repeating: word, count: length / word.utf8.count + 1)
    }

    static let catalog: IndexCatalog<Item> = {
        var catalog = IndexCatalog<Item>()
        catalog.addIndex([catalog.addColumn(\Item.group, name: "group")])
        catalog.addCollection(\Item.tags, name: "tags", of: String.self) { $0.tags }
        return catalog
    }()

    /// Returns every item of a group, through the index if there is one.
    static func inGroup(_ group: String) -> QueryDescription<Item> {
        QueryDescription([.filter(.test(Test(\Item.group, .isEqual(group)) { $0.group == group }))])
    }

    static func tagged(_ tag: String) -> QueryDescription<Item> {
        QueryDescription([
            .filter(.test(Test(\Item.tags, .hasElement([tag])) { $0.tags.contains(tag) }))
        ])
    }
}
