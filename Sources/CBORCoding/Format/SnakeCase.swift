/// Conversion of keys between camel case and snake case.
enum SnakeCase {
    /// Converts `oneTwoThree` to `one_two_three` and `myURLProperty` to `my_url_property`. Leading
    /// and trailing underscores are kept.
    static func snakeCase(_ text: String) -> String {
        var result = ""
        let letters = Array(text)
        for (index, letter) in letters.enumerated() {
            let before = index > 0 ? letters[index - 1] : nil
            let after = index + 1 < letters.count ? letters[index + 1] : nil
            // A word begins at a capital after another character, and at the last of several
            // capitals before a lowercase letter.
            let begins =
                letter.isUppercase && (before.map { !$0.isUppercase && $0 != "_" } ?? false)
                || letter.isUppercase && (before?.isUppercase ?? false)
                    && (after?.isLowercase ?? false)
            if begins { result += "_" }
            result += letter.lowercased()
        }
        return result
    }

    /// Converts `one_two_three` to `oneTwoThree`. Leading and trailing underscores are kept.
    static func camelCase(_ text: String) -> String {
        guard let first = text.firstIndex(where: { $0 != "_" }),
            let last = text.lastIndex(where: { $0 != "_" })
        else { return text }
        let words = text[first...last].split(separator: "_")
        // A single word may already be in camel case.
        guard words.count > 1 else { return text }
        let joined =
            words[0].lowercased()
            + words.dropFirst().map { $0.capitalized }.joined()
        return text[..<first] + joined + text[text.index(after: last)...]
    }
}

extension Substring {
    fileprivate var capitalized: String { prefix(1).uppercased() + dropFirst().lowercased() }
}
