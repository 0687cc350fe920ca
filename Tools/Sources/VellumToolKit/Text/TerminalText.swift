/// Text of a file, made safe for a terminal.
enum TerminalText {
    /// Returns the text with everything that a terminal may act on as `\u{…}`.
    ///
    /// What is printed can be read back by ``unescaped(_:)``: a backslash before `u{` is escaped, too.
    static func escaped(_ text: String) -> String {
        guard !text.utf8.allSatisfy({ 0x20...0x7E ~= $0 && $0 != UInt8(ascii: "\\") }) else { return text }
        var result = String.UnicodeScalarView()
        var safe = SafeScalars()
        let scalars = text.unicodeScalars
        var index = scalars.startIndex
        while index < scalars.endIndex {
            let scalar = scalars[index]
            let next = scalars.index(after: index)
            let looksEscaped = scalar == "\\" && scalars[next...].starts(with: "u{".unicodeScalars)
            if !looksEscaped, safe.shows(scalar) {
                result.append(scalar)
            } else {
                result.append(contentsOf: escape(scalar))
            }
            index = next
        }
        return String(result)
    }

    /// Returns the text that ``escaped(_:)`` has made safe. What is no escape stays.
    static func unescaped(_ text: String) -> String {
        text.replacing(/\\u\{([0-9A-Fa-f]{1,6})\}/) { match in
            guard let value = UInt32(match.1, radix: 16), let scalar = Unicode.Scalar(value) else { return String(match.0) }
            return String(Character(scalar))
        }
    }

    /// Returns the text as a cell or a message shows it: safe, and shortened in the middle to a width.
    static func shown(_ text: String, width: Int) -> String {
        DisplayWidth.shortened(escaped(cut(text, to: 4 * max(width, 16))), to: width)
    }

    /// Returns the beginning and the end of a long text, so that a name of a million bytes costs no more than one of a thousand.
    private static func cut(_ text: String, to scalars: Int) -> String {
        guard text.utf8.count > 8 * scalars else { return text }
        return String(text.unicodeScalars.prefix(scalars)) + "…" + String(text.unicodeScalars.suffix(scalars))
    }

    static func escape(_ scalar: Unicode.Scalar) -> String.UnicodeScalarView {
        "\\u{\(String(scalar.value, radix: 16, uppercase: true))}".unicodeScalars
    }
}
