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
        caseSensitivity == .insensitive && !SafeName.hasPrefix(path) && path.utf8.contains { SafeName.isLetter($0) || $0 >= 0x80 }
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
    /// They appended the text to the folder's path, so that every `/` made a folder. A path with `.`, `..` or nothing between two
    /// slashes leads to another key's file, or out of the folder, and is never read.
    private func earlierPath(of text: String) -> String? {
        var path = Substring(text)
        if isBase64, path.utf8.last == UInt8(ascii: "/") {
            path = Substring(path.utf8.dropLast())  // They lost it. No other base64 text has this length.
        }
        guard !SafeName.hasPrefix(text), !path.utf8.contains(0) else { return nil }
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let isSafe = parts.allSatisfy { part in
            (1...SafeName.longest).contains(part.count) && !part.elementsEqual(".".utf8) && !part.elementsEqual("..".utf8)
        }
        return isSafe ? String(path) : nil
    }
}
