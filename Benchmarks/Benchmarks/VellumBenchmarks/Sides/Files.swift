import Foundation

/// A file for each entry, written atomically, for scale.
final class Files<Value: Subject> {
    private let folder: URL

    init(_ folder: URL) { self.folder = folder }

    func record(_ value: Value) throws {
        try value.archive().write(
            to: folder.appendingPathComponent(value.primaryKey),
            options: .atomic
        )
    }

    func value(_ key: String) throws -> Value? {
        try Value.decode(Data(contentsOf: folder.appendingPathComponent(key)))
    }

    /// Writes a file without the measured sync: Foundation syncs each atomic write.
    func fill(_ value: Value) throws {
        let bytes = try value.archive()
        guard let file = fopen(folder.appendingPathComponent(value.primaryKey).path, "w") else {
            throw CocoaError(.fileWriteUnknown)
        }
        defer { fclose(file) }
        let written = bytes.withUnsafeBytes { fwrite($0.baseAddress, 1, $0.count, file) }
        guard written == bytes.count else { throw CocoaError(.fileWriteUnknown) }
    }
}
