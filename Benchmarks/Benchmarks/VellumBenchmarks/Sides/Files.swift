import Foundation

/// A file for each entry, written as a whole and put in its place: for scale.
final class Files<Value: Subject> {
    private let folder: URL

    init(_ folder: URL) { self.folder = folder }

    func record(_ value: Value) throws {
        try value.archive().write(to: folder.appendingPathComponent(value.primaryKey), options: .atomic)
    }

    func value(_ key: String) throws -> Value? {
        try Value.decode(Data(contentsOf: folder.appendingPathComponent(key)))
    }

    /// Fills the folder without the care that is measured.
    func fill(_ value: Value) throws {
        try value.archive().write(to: folder.appendingPathComponent(value.primaryKey))
    }
}
