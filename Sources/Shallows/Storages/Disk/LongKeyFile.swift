internal import Foundation
internal import VellumCore

/// A file whose key is too long for its name: the value, then the key, its length and a mark.
///
/// The key is in the same file, so that neither exists without the other.
enum LongKeyFile {
    /// Eight bytes of the length, little endian, and eight of the mark.
    static let endCount = 16
    private static let mark = Array("shallows".utf8)

    /// What a file holds, as far as its key is concerned.
    enum Owner: Equatable, Sendable {
        case missing, damaged, folder
        case key(Data)
    }

    /// What follows the value.
    static func end(for key: String) -> Data {
        var end = Data(key.utf8)
        withUnsafeBytes(of: UInt64(key.utf8.count).littleEndian) { end.append(contentsOf: $0) }
        end.append(contentsOf: mark)
        return end
    }

    /// The value and the key; `nil` for a file that is damaged, or of another kind.
    ///
    /// - Complexity: O(length of the key). The value is not copied.
    static func parts(of contents: Data) -> (value: Data, key: Data)? {
        guard let length = keyLength(of: contents.suffix(endCount), size: contents.count) else { return nil }
        return (contents.dropLast(endCount + length), contents.dropLast(endCount).suffix(length))
    }

    /// The length of the key, by the last sixteen bytes of a file of this size; `nil` if they are invalid.
    static func keyLength(of end: Data, size: Int) -> Int? {
        guard end.count == endCount, end.suffix(mark.count).elementsEqual(mark) else { return nil }
        let length = UInt64(littleEndian: end.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) })
        return length <= UInt64(size - endCount) ? Int(length) : nil
    }

    /// Whether the key in a file is `text`.
    static func isKey(_ key: Data, _ text: String) -> Bool {
        key.count == text.utf8.count && key.elementsEqual(text.utf8)
    }

    /// The name of the file with this number among the keys of one digest.
    static func name(digest: String, number: Int) -> String { "\(SafeName.hashedPrefix)\(digest)-\(number)" }

    static func isName(_ name: String) -> Bool { name.utf8.starts(with: SafeName.hashedPrefix.utf8) }
}

extension FileReader {
    /// The key of a file, read from its end.
    ///
    /// - Complexity: O(length of the key), whatever the size of the value.
    func longKey(of name: String) throws(FileError) -> LongKeyFile.Owner {
        let file = try folder.open(name, for: .reading)
        if file == -ENOENT { return .missing }
        guard file >= 0 else { throw folder.error(.opening, file, name) }
        let answer = longKey(of: file)
        _ = folder.fileSystem.call.close(file)
        switch answer {
        case .value(let owner): return owner
        case .failure(let code): throw folder.error(.reading, code, name)
        }
    }

    private func longKey(of file: Int32) -> FileSystem.Answer<LongKeyFile.Owner> {
        let status: FileSystem.Status
        switch folder.fileSystem.call.status(file) {
        case .failure(let code): return .failure(code)
        case .value(let value): status = value
        }
        guard status.kind != .folder else { return .value(.folder) }
        var end = Data()
        var missing = min(status.size, LongKeyFile.endCount)
        // The length and the mark first, then the key before them.
        for _ in 0..<2 {
            var piece = Data(count: missing)
            let offset = status.size - end.count - missing
            let count = piece.withUnsafeMutableBytes { buffer in
                buffer.baseAddress.map { folder.fileSystem.call.readAt(file, $0, buffer.count, offset) } ?? 0
            }
            guard count >= 0 else { return .failure(Int32(count)) }
            end = piece + end
            guard count == missing, let length = LongKeyFile.keyLength(of: end.suffix(LongKeyFile.endCount), size: status.size)
            else { return .value(.damaged) }
            missing = length
        }
        return .value(.key(end.dropLast(LongKeyFile.endCount)))
    }
}
