/// Text of a file, made safe for a terminal.
enum TerminalText {
    /// Returns the text with everything that a terminal may act on as `\u{…}`.
    ///
    /// What is printed can be read back by ``unescaped(_:)``: a backslash before `u{` is escaped,
    /// too.
    static func escaped(_ text: String) -> String {
        isPlain(text) ? text : pieces(text).joined()
    }

    /// Returns the text that ``escaped(_:)`` has made safe. What is no escape stays.
    static func unescaped(_ text: String) -> String {
        let escape = /\\u\{([0-9A-Fa-f]{1,6})\}/.matchingSemantics(.unicodeScalar)
        return text.replacing(escape) { match in
            guard let value = UInt32(match.1, radix: 16),
                let scalar = Unicode.Scalar(value)
            else {
                return String(match.0)
            }
            return String(Character(scalar))
        }
    }

    /// Returns the text as a cell or a message shows it: safe, and shortened in the middle to a
    /// width. No escape is cut in two.
    static func shown(_ text: String, width: Int = 100) -> String {
        let text = cut(text, to: 4 * min(max(width, 16), 1 << 20))
        return isPlain(text)
            ? DisplayWidth.shortened(text, to: width)
            : DisplayWidth.shortened(pieces(text), to: width)
    }

    private static func isPlain(_ text: String) -> Bool {
        text.utf8.allSatisfy { 0x20...0x7E ~= $0 && $0 != UInt8(ascii: "\\") }
    }

    /// The safe text in pieces: characters, and escapes.
    private static func pieces(_ text: String) -> [String] {
        var pieces: [String] = []
        var shown = ""
        var safe = SafeScalars()
        let scalars = text.unicodeScalars
        for index in scalars.indices {
            let scalar = scalars[index]
            let looksEscaped =
                scalar == "\\"
                && scalars[scalars.index(after: index)...].starts(with: "u{".unicodeScalars)
            if !looksEscaped, safe.shows(scalar) {
                shown.unicodeScalars.append(scalar)
            } else {
                pieces +=
                    shown.map(String.init) + [
                        "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
                    ]
                shown = ""
            }
        }
        return pieces + shown.map(String.init)
    }

    /// Returns the beginning and the end of a long text, so that a name of a million bytes costs no
    /// more than one of a thousand.
    private static func cut(_ text: String, to scalars: Int) -> String {
        guard text.utf8.count > 8 * scalars else { return text }
        return String(text.unicodeScalars.prefix(scalars)) + "…"
            + String(text.unicodeScalars.suffix(scalars))
    }
}
