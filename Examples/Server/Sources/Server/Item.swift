import Foundation
import Hummingbird
import Vellum

/// What the server keeps, and sends as JSON.
struct Item: ArchiveCodable, IndexedArchivable, ResponseCodable {
    static var archiveIndexes: [ArchiveIndex<Item>] { [.index(\.changed)] }

    var primaryKey: String { id }
    var id: String
    var text: String
    var changed: Date
}

/// What a client sends to record an item.
struct NewItem: Decodable {
    var text: String
}
