internal import Foundation

/// A file whose key is too long for its name: the value, then the key, its length and a mark.
///
/// The key is in the file and not in one beside it, so that there is no moment at which one is there without the other.
enum LongKeyFile {
    /// Eight bytes of the length, little endian, and eight of the mark.
    static let endCount = 16
    private static let mark = Array("shallows".utf8)

    /// What follows the value.
    static func end(for key: String) -> Data {
        var end = Data(key.utf8)
        withUnsafeBytes(of: UInt64(key.utf8.count).littleEndian) { end.append(contentsOf: $0) }
        end.append(contentsOf: mark)
        return end
    }

    /// The value and the key; `nil` for a file that is damaged, or none of these.
    ///
    /// - Complexity: O(length of the key). The value is not copied.
    static func parts(of contents: Data) -> (value: Data, key: Data)? {
        guard let length = keyLength(of: contents.suffix(endCount), size: contents.count) else { return nil }
        return (contents.dropLast(endCount + length), contents.dropLast(endCount).suffix(length))
    }

    /// How long the key is, by the last sixteen bytes of a file of this size; `nil` if that cannot be.
    static func keyLength(of end: Data, size: Int) -> Int? {
        guard end.count == endCount, end.suffix(mark.count).elementsEqual(mark) else { return nil }
        let length = end.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return length <= UInt64(size - endCount) ? Int(length) : nil
    }

    /// Whether the key that was found in a file is `text`.
    static func isKey(_ key: Data, _ text: String) -> Bool {
        var text = text
        return text.withUTF8 { text in
            key.withUnsafeBytes { key in
                key.count == text.count && (text.isEmpty || memcmp(key.baseAddress!, text.baseAddress!, text.count) == 0)
            }
        }
    }

    /// The name of the file, or of the next one if other keys of the same digest were there first.
    static func name(digest: String, number: Int) -> String { "\(SafeName.hashedPrefix)\(digest)-\(number)" }

    static func isName(_ name: String) -> Bool { name.utf8.starts(with: SafeName.hashedPrefix.utf8) }
}

extension LongKeyFile {
    /// What is found where such a file may be.
    enum Found: Equatable, Sendable {
        case missing, damaged, folder
        case key(Data)
    }
}

extension FileReader {
    /// Whose file it is, from its end alone.
    ///
    /// - Complexity: O(length of the key), whatever the size of the value.
    func longKey(at path: UnsafePointer<CChar>) throws(FileFailure) -> LongKeyFile.Found {
        let file = calls.open(path, .reading)
        if file == -ENOENT { return .missing }
        guard file >= 0 else { throw FileFailure(step: .opening, code: -file, path: String(cString: path)) }
        let answer = longKey(of: file)
        _ = calls.close(file)
        switch answer {
        case .value(let found): return found
        case .failure(let code): throw FileFailure(step: .reading, code: -code, path: String(cString: path))
        }
    }

    private func longKey(of file: Int32) -> FileSystemCalls.Answer<LongKeyFile.Found> {
        switch calls.status(file) {
        case .failure(let code): return .failure(code)
        case .value(let status):
            guard status.kind != .folder else { return .value(.folder) }
            var end = Data()
            var missing = min(status.size, LongKeyFile.endCount)
            // The length and the mark first, then the key before them.
            for _ in 0..<2 {
                var piece = Data(count: missing)
                let count = piece.withUnsafeMutableBytes { buffer in
                    buffer.isEmpty ? 0 : calls.readAt(file, buffer.baseAddress!, buffer.count, status.size - end.count - buffer.count)
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
}
