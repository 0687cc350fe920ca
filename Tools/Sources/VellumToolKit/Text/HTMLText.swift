/// Text of a file, made safe for a page.
enum HTMLText {
    /// Returns the text for the content of an element or a quoted attribute.
    ///
    /// What a terminal would act on is shown as `\u{…}` here, too: it could turn the order of the letters around it.
    static func escaped(_ text: String) -> String {
        let safe = TerminalText.escaped(text)
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

    /// The same, shortened in the middle.
    static func shown(_ text: String, width: Int = 80) -> String {
        // A character of the terminal's form is never cut in two, and markup is added after it.
        let short = TerminalText.shown(text, width: width)
        return short == TerminalText.escaped(text) ? escaped(text) : markup(short)
    }

    private static func markup(_ safe: String) -> String {
        safe.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;").replacing("'", with: "&#39;").replacing("`", with: "&#96;")
    }

    private static let special = Set("&<>\"'`".utf8)
}
