/// Text of a file, made safe for a page.
enum HTMLText {
    /// Returns the text for the content of an element or a quoted attribute.
    ///
    /// What a terminal would act on is shown as `\u{…}` here, too: it could turn the order of the
    /// letters around it.
    static func escaped(_ text: String) -> String { withoutMarkup(TerminalText.escaped(text)) }

    /// The same, shortened in the middle.
    static func shown(_ text: String, width: Int) -> String {
        withoutMarkup(TerminalText.shown(text, width: width))
    }

    private static func withoutMarkup(_ safe: String) -> String {
        guard safe.utf8.contains(where: { special.contains($0) }) else { return safe }
        var result = ""
        for scalar in safe.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            case "`": result += "&#96;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static let special = Set("&<>\"'`".utf8)
}
