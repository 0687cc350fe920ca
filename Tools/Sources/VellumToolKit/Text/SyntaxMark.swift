/// A text with a mark under a place of it.
enum SyntaxMark {
    /// Two lines: the text around the place, and the mark.
    ///
    /// - Parameter offset: The place in scalars.
    static func lines(_ text: String, offset: Int, width: Int) -> [String] {
        let scalars = text.unicodeScalars
        let before = TerminalText.escaped(String(scalars.prefix(max(0, offset))))
        let after = TerminalText.escaped(String(scalars.dropFirst(max(0, offset))))
        let room = max(width - 4, 16)
        let head = suffix(before, fitting: room * 2 / 3)
        let tail = prefix(after, fitting: room - DisplayWidth.of(head) - 1)
        return ["  \(head)\(tail)", "  \(String(repeating: " ", count: DisplayWidth.of(head)))^"]
    }

    private static func suffix(_ text: String, fitting width: Int) -> String {
        guard DisplayWidth.of(text) > width else { return text }
        var used = 1
        let kept = text.reversed().prefix { character in
            used += DisplayWidth.of(character)
            return used <= width
        }
        return "…" + String(kept.reversed())
    }

    private static func prefix(_ text: String, fitting width: Int) -> String {
        guard DisplayWidth.of(text) > width else { return text }
        var used = 1
        return String(
            text.prefix { character in
                used += DisplayWidth.of(character)
                return used <= width
            }
        ) + "…"
    }
}
