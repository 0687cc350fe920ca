/// How a text is emphasized on a terminal.
enum Style: String, Sendable {
    case bold = "1"
    case dim = "2"
    case red = "31"

    /// Returns the text in the style, if colours are used.
    func callAsFunction(_ text: String, ifColored isColored: Bool) -> String {
        isColored && !text.isEmpty ? "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" : text
    }
}
