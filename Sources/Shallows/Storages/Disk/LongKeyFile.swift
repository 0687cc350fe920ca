internal import Foundation
internal import VellumCore

/// A file whose key is too long for its name: the value, then the encoder's text for the key, its
/// length and a mark.
///
/// The text is in the same file, so that keys can be listed and neither exists without the other.
enum LongKeyFile {
    /// Eight bytes of the length, little endian, and eight of the mark.
    static let endCount = 16
    private static let mark = Array("shallows".utf8)

    /// What follows the value.
    static func end(for text: String) -> Data {
        var end = Data(text.utf8)
        withUnsafeBytes(of: UInt64(text.utf8.count).littleEndian) { end.append(contentsOf: $0) }
        end.append(contentsOf: mark)
        return end
    }

    /// The value in a file; `nil` for a file that is damaged, or of another text.
    ///
    /// - Complexity: O(length of the text). The value is not copied.
    static func value(in contents: Data, of text: String) -> Data? {
        guard let length = textLength(of: contents.suffix(endCount), size: contents.count),
            contents.dropLast(endCount).suffix(length).elementsEqual(text.utf8)
        else { return nil }
        return contents.dropLast(endCount + length)
    }

    /// The length of the text, by the last sixteen bytes of a file of this size; `nil` if they are
    /// invalid.
    static func textLength(of end: Data, size: Int) -> Int? {
        guard end.count == endCount, end.suffix(mark.count).elementsEqual(mark) else { return nil }
        let length = UInt64(littleEndian: end.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) })
        return length <= UInt64(size - endCount) ? Int(length) : nil
    }
}

extension FileReader {
    /// The text at the end of a file; `nil` for a file that is missing, damaged or of another kind.
    ///
    /// - Complexity: O(length of the text), whatever the size of the value.
    func longKey(of name: String) throws(FileError) -> String? {
        let file = try folder.open(name, for: .reading)
        if file == -ENOENT { return nil }
        guard file >= 0 else { throw folder.error(.opening, file, name) }
        defer { _ = folder.fileSystem.call.close(file) }
        guard case .value(let status) = folder.fileSystem.call.status(file),
            status.kind == .file,
            status.size >= LongKeyFile.endCount
        else { return nil }
        let end = try bytes(
            LongKeyFile.endCount,
            of: file,
            at: status.size - LongKeyFile.endCount,
            name
        )
        guard let length = LongKeyFile.textLength(of: end, size: status.size) else { return nil }
        let text = try bytes(
            length,
            of: file,
            at: status.size - LongKeyFile.endCount - length,
            name
        )
        return String(validating: text, as: UTF8.self)
    }

    /// - Returns: Fewer bytes if the file is shorter.
    private func bytes(
        _ count: Int,
        of file: Int32,
        at offset: Int,
        _ name: String
    ) throws(FileError) -> Data {
        var bytes = Data(count: count)
        let found = bytes.withUnsafeMutableBytes { buffer in
            buffer.baseAddress.map { folder.fileSystem.call.readAt(file, $0, buffer.count, offset) }
                ?? 0
        }
        guard found >= 0 else { throw folder.error(.reading, Int32(found), name) }
        return bytes.prefix(found)
    }
}
