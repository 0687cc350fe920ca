/// The two spellings of a key.
enum SnakeCase {
    /// `one_two_three` of `oneTwoThree`; `my_url_property` of `myURLProperty`. Underscores at both ends stay.
    static func from(_ text: String) -> String {
        var result = ""
        let letters = Array(text)
        for (place, letter) in letters.enumerated() {
            let before = place > 0 ? letters[place - 1] : nil
            let after = place + 1 < letters.count ? letters[place + 1] : nil
            // A word begins with a capital after what is none, and with the last of several capitals before a small letter.
            let begins =
                letter.isUppercase && (before.map { !$0.isUppercase && $0 != "_" } ?? false)
                || letter.isUppercase && (before?.isUppercase ?? false) && (after?.isLowercase ?? false)
            if begins { result += "_" }
            result += letter.lowercased()
        }
        return result
    }

    /// `oneTwoThree` of `one_two_three`. Underscores at both ends stay.
    static func to(_ text: String) -> String {
        guard let first = text.firstIndex(where: { $0 != "_" }), let last = text.lastIndex(where: { $0 != "_" }) else { return text }
        let words = text[first...last].split(separator: "_")
        // A single word may have capitals of its own.
        guard words.count > 1 else { return text }
        let joined = words[0].lowercased() + words.dropFirst().map { $0.capitalized }.joined()
        return text[..<first] + joined + text[text.index(after: last)...]
    }
}

extension Substring {
    fileprivate var capitalized: String { prefix(1).uppercased() + dropFirst().lowercased() }
}
