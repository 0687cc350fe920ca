/// Looks for a part of strings: whole characters, as Swift's own `contains` does.
struct StringPart {
    private let part: String
    private let ignoresCase: Bool
    /// The bytes to look for, where in plain strings bytes are characters.
    private let bytes: [UInt8]?

    init(_ part: String, caseSensitive: Bool = true) {
        self.part = caseSensitive ? part : part.lowercased()
        ignoresCase = !caseSensitive
        bytes = StringPart.isPlain(self.part.utf8) ? Array(self.part.utf8) : nil
    }

    /// Whether the string contains the part. Every string contains the empty one.
    func isContained(in string: String) -> Bool {
        guard !part.isEmpty else { return true }
        let string = ignoresCase ? string.lowercased() : string
        return inBytes(of: string) ?? string.contains(part)
    }

    /// Looks byte by byte; nothing if that is not certain to be the same.
    private func inBytes(of string: String) -> Bool? {
        guard let bytes else { return nil }
        return string.utf8.withContiguousStorageIfAvailable { (text: UnsafeBufferPointer<UInt8>) -> Bool? in
            guard StringPart.isPlain(text) else { return nil }
            guard let first = bytes.first else { return true }
            guard bytes.count <= text.count else { return false }
            return (0...text.count - bytes.count).contains { start in
                text[start] == first && text[start..<start + bytes.count].elementsEqual(bytes)
            }
        } ?? nil
    }

    /// Whether every byte is a character of its own: ASCII, without the return that makes one with a newline.
    private static func isPlain(_ bytes: some Sequence<UInt8>) -> Bool { bytes.allSatisfy { $0 < 0x80 && $0 != 0x0D } }
}
