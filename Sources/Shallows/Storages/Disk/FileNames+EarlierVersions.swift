internal import Foundation

/// Where earlier versions, or a folder with the other base64 encoder, may have written a key's value.
extension FileNames {
    /// The locations to read after ``location(of:)``, and to remove when the key is set or removed. Nearly every key has none, because
    /// earlier versions gave it the same name.
    ///
    /// - Complexity: O(length); a key that is not ASCII is normalized again.
    func earlierLocations(of spelling: Spelling) -> [FileLocation] {
        let location = location(of: spelling)
        let isPlain = Self.hasOneSpelling(spelling) && spelling.otherText == nil && location == .named(spelling.text)
        guard !isPlain else { return [] }
        var locations: [FileLocation] = []
        func add(_ earlier: FileLocation) {
            if earlier != location, !locations.contains(earlier) { locations.append(earlier) }
        }
        if let other = spelling.otherText, !other.utf8.contains(UInt8(ascii: "/")), case .named(let name) = self.location(ofText: other) {
            add(.named(name))
        }
        for text in earlierTexts(of: spelling) {
            if let path = earlierPath(of: text) { add(.named(path)) }
        }
        return locations
    }

    /// Whether a file found under a path counts only if the folder spells it in exactly these letters. Names that this package makes
    /// differ in more than case; others may not.
    func needsExactName(_ path: String) -> Bool {
        caseSensitivity == .insensitive && !SafeName.isMade(path) && path.utf8.contains { SafeName.isLetter($0) || $0 >= 0x80 }
    }

    private static func hasOneSpelling(_ spelling: Spelling) -> Bool { spelling.normalized.isASCII && spelling.text.isASCII }

    private var isBase64: Bool {
        switch encoder.scheme {
        case .base64, .base64URL: true
        case .noEncoding, .custom: false
        }
    }

    /// What earlier versions made of the key. They did not normalize it, so each of its normal forms is tried.
    private func earlierTexts(of spelling: Spelling) -> [String] {
        var texts = [spelling.text]
        if let other = spelling.otherText { texts.append(other) }
        guard !Self.hasOneSpelling(spelling) else { return texts }
        for raw in [spelling.key.rawValue, spelling.normalized, spelling.normalized.decomposedStringWithCanonicalMapping] {
            let text = encoder.encodedString(representing: Filename(rawValue: raw))
            texts.append(text)
            switch encoder.scheme {
            case .base64: texts.append(Base64.inURLAlphabet(text))
            case .base64URL: texts.append(Base64.encoded(raw).text)
            case .noEncoding, .custom: break
            }
        }
        return texts
    }

    /// The path at which earlier versions wrote a text; `nil` if they did not, or if another text may have the same path.
    ///
    /// They appended the text to the folder's path, so that every `/` made a folder, and `//` made one as well. A path with `.`, `..` or
    /// nothing between two slashes leads to another key's file, or out of the folder, and is never read. A URL is the exception: nobody means
    /// another key by `https:/x` than by `https://x`.
    func earlierPath(of text: String) -> String? {
        var path = URLText.path(of: text).map { Substring($0) } ?? Substring(text)
        if isBase64, path.utf8.last == UInt8(ascii: "/") {
            path = Substring(path.utf8.dropLast())  // They lost it. No other base64 text has this length.
        }
        guard !SafeName.isMade(text), !path.utf8.contains(0) else { return nil }
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let isSafe = parts.allSatisfy { part in
            (1...SafeName.longest).contains(part.count) && !part.elementsEqual(".".utf8) && !part.elementsEqual("..".utf8)
        }
        return isSafe ? String(path) : nil
    }
}

/// URLs as keys: the paths that earlier versions gave them, which have one slash after the scheme.
enum URLText {
    /// The path of a URL; `nil` for any other text.
    static func path(of text: String) -> String? {
        guard let slashes = slashes(of: text), text.utf8[slashes.end...].starts(with: slashes.text.utf8) else { return nil }
        return String(text[..<slashes.end]) + "/" + text.utf8[slashes.end...].dropFirst(slashes.text.utf8.count).text
    }

    /// The URL with that path; `nil` if no URL has it.
    static func url(withPath path: String) -> String? {
        guard let slashes = slashes(of: path), path.utf8[slashes.end...].first == UInt8(ascii: "/") else { return nil }
        return String(path[..<slashes.end]) + slashes.text + path.utf8[slashes.end...].dropFirst().text
    }

    /// The end of a URL's scheme and its colon (RFC 3986, 3.1), and the slashes that follow: those of files name no host.
    private static func slashes(of text: String) -> (end: String.Index, text: String)? {
        let bytes = text.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), let first = bytes.first, SafeName.isLetter(first) else { return nil }
        let scheme = bytes[..<colon]
        guard scheme.allSatisfy({ SafeName.isLetter($0) || (48...57).contains($0) || "+-.".utf8.contains($0) }) else { return nil }
        return (bytes.index(after: colon), scheme.text.lowercased() == "file" ? "///" : "//")
    }
}

extension Substring.UTF8View {
    fileprivate var text: String { String(Substring(self)) }
}
