internal import Foundation

/// Where earlier versions, or a folder under the other base64, may have written a key's value.
extension FileNames {
    /// The places to look in after ``place(of:)``, and to empty when the key is set or removed. Nearly always there are none, because
    /// what earlier versions called a file is what it is called.
    ///
    /// - Complexity: O(length), with normal forms to be made where the key is not ASCII.
    func oldPlaces(of spelling: Spelling) -> [FilePlace] {
        let place = place(of: spelling)
        let isPlain = Self.hasOneSpelling(spelling) && spelling.otherText == nil && place == .named(spelling.text)
        guard !isPlain else { return [] }
        var places: [FilePlace] = []
        func add(_ old: FilePlace) {
            if old != place, !places.contains(old) { places.append(old) }
        }
        if let other = spelling.otherText, !other.utf8.contains(UInt8(ascii: "/")), case .named(let name) = self.place(ofText: other) {
            add(.named(name))
        }
        for text in oldTexts(of: spelling) {
            if let path = oldPath(of: text) { add(.named(path)) }
        }
        return places
    }

    /// Whether what is found at a path counts only if the folder has it in exactly these letters: names of this package's making
    /// differ even when they are read without case, others need not.
    func needsExactName(_ path: String) -> Bool {
        rule == .insensitive && !SafeName.hasPrefix(path) && path.utf8.contains { SafeName.isLetter($0) || $0 >= 0x80 }
    }

    private static func hasOneSpelling(_ spelling: Spelling) -> Bool { spelling.normalized.isASCII && spelling.text.isASCII }

    private var isBase64: Bool {
        switch encoder.scheme {
        case .base64, .base64URL: true
        case .noEncoding, .custom: false
        }
    }

    /// What earlier versions made of the key in every spelling of it that they can have been given: they did not know that these are
    /// one key.
    private func oldTexts(of spelling: Spelling) -> [String] {
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

    /// The path at which earlier versions wrote a text; `nil` if they cannot have, or if it is not this text's alone.
    ///
    /// They appended the text to the folder's path, so that every `/` made a folder. A path with `.`, `..` or nothing between two
    /// slashes leads to another key's file, or outside: it is never looked at.
    private func oldPath(of text: String) -> String? {
        var path = Substring(text)
        if isBase64, path.utf8.last == UInt8(ascii: "/") {
            path = Substring(path.utf8.dropLast())  // It was lost. No other base64 has this length.
        }
        guard !SafeName.hasPrefix(text), !path.utf8.contains(0) else { return nil }
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let isIntact = parts.allSatisfy { part in
            (1...SafeName.longest).contains(part.count) && !part.elementsEqual(".".utf8) && !part.elementsEqual("..".utf8)
        }
        return isIntact ? String(path) : nil
    }
}
