// Without Foundation, whose `contains` finds parts of characters.

/// Searches strings for a substring of whole characters, as Swift's `contains` does.
struct StringPart {
    private let part: String
    private let ignoresCase: Bool
    /// The UTF-8 of the substring, if each of its bytes is a character.
    private let bytes: [UInt8]?

    init(_ part: String, caseSensitive: Bool = true) {
        self.part = caseSensitive ? part : part.lowercased()
        ignoresCase = !caseSensitive
        bytes = StringPart.isPlain(self.part.utf8) ? Array(self.part.utf8) : nil
    }

    /// Returns whether the string contains the substring. Every string contains the empty string.
    func isContained(in string: String) -> Bool {
        guard !part.isEmpty else { return true }
        let string = ignoresCase ? string.lowercased() : string
        return inBytes(of: string) ?? string.contains(part)
    }

    /// Compares bytes; returns `nil` if the result could differ from a comparison of characters.
    private func inBytes(of string: String) -> Bool? {
        guard let bytes else { return nil }
        return string.utf8.withContiguousStorageIfAvailable {
            (text: UnsafeBufferPointer<UInt8>) -> Bool? in
            guard StringPart.isPlain(text) else { return nil }
            guard let first = bytes.first else { return true }
            guard bytes.count <= text.count else { return false }
            return (0...text.count - bytes.count).contains { start in
                text[start] == first && text[start..<start + bytes.count].elementsEqual(bytes)
            }
        } ?? nil
    }

    /// Returns whether every byte is a character: ASCII without the carriage return, which forms
    /// one character with a line feed.
    private static func isPlain(_ bytes: some Sequence<UInt8>) -> Bool {
        bytes.allSatisfy { $0 < 0x80 && $0 != 0x0D }
    }
}
