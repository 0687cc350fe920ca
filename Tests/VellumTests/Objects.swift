import Foundation
import Vellum

// Objects that the tests record.

/// An object of a given size in bytes. It cannot be encoded if its key is longer.
struct Parcel: Archivable, Equatable {
    var primaryKey: String
    var size: Int

    init(_ primaryKey: String, size: Int = 100) {
        self.primaryKey = primaryKey
        self.size = size
    }

    func archive() throws -> Data {
        guard size >= primaryKey.utf8.count else {
            throw Refusal(words: "\(primaryKey) does not fit into \(size)")
        }
        return Data(primaryKey.utf8) + Data(repeating: 0x20, count: size - primaryKey.utf8.count)
    }

    static func deArchive(fromData data: Data) throws -> any Archivable {
        let key = data.prefix { $0 != 0x20 }
        return Parcel(String(decoding: key, as: UTF8.self), size: data.count)
    }
}

/// A parcel that cannot be encoded.
extension Parcel {
    static func refusing(_ primaryKey: String) -> Parcel { Parcel(primaryKey, size: -1) }
}

/// The error of an object that cannot be encoded or decoded.
struct Refusal: Error {
    var words: String
}

/// A `Codable` object.
struct User: ArchiveCodable, Equatable {
    var primaryKey: String { name }
    var name: String
    var age = 0
}

/// A class that is neither final nor `Sendable`.
class Note: Archivable {
    var primaryKey: String { title }
    var title: String
    var text: String

    init(_ title: String, text: String = "") {
        self.title = title
        self.text = text
    }

    func archive() throws -> Data { Data("\(title)\n\(text)".utf8) }

    static func deArchive(fromData data: Data) throws -> any Archivable {
        let parts = String(decoding: data, as: UTF8.self).components(separatedBy: "\n")
        guard parts.count == 2 else { throw Refusal(words: "No note: \(parts)") }
        return Note(parts[0], text: parts[1])
    }
}
