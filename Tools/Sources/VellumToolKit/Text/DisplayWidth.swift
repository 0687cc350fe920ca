/// How many columns of a terminal a text takes.
enum DisplayWidth {
    /// The columns of a text that is safe for a terminal.
    static func of(_ text: String) -> Int {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
        return text.reduce(0) { $0 + of($1) }
    }

    /// The columns of what is seen as one character: those of its widest scalar.
    static func of(_ character: Character) -> Int {
        var width = 0
        for scalar in character.unicodeScalars {
            // Asks for the picture in place of the letter.
            if scalar.value == 0xFE0F { return 2 }
            width = max(width, of(scalar))
        }
        return width
    }

    private static func of(_ scalar: Unicode.Scalar) -> Int {
        let value = scalar.value
        if value < 0x300 { return 1 }
        // Vowels and final consonants of Hangul are drawn into the syllable.
        if 0x1160...0x11FF ~= value || scalar.isJoiner || scalar.isVariationSelector { return 0 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: return 0
        default: break
        }
        if scalar.properties.isEmojiPresentation { return 2 }
        return wide.contains { $0 ~= value } ? 2 : 1
    }

    /// Wide and full-width characters (Unicode Standard Annex 11), in blocks.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF,
        0x4E00...0xA4CF, 0xA960...0xA97C,
        0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60,
        0xFFE0...0xFFE6, 0x16FE0...0x18CFF,
        0x1AFF0...0x1B2FF, 0x1F200...0x1F265, 0x20000...0x3FFFD,
    ]

    /// Returns the text, shortened in the middle with `…` if it is wider than a width.
    static func shortened(_ text: String, to width: Int) -> String {
        of(text) <= width ? text : shortened(text.map(String.init), to: width)
    }

    /// The same of a text in pieces, none of which is cut.
    static func shortened(_ pieces: [String], to width: Int) -> String {
        guard pieces.reduce(0, { $0 + of($1) }) > width else {
            return pieces.joined()
        }
        guard width > 1 else { return width == 1 ? "…" : "" }
        let head = fitting(pieces, width / 2)
        let tail = fitting(pieces.reversed(), width - 1 - head.width)
        return head.pieces.joined() + "…" + tail.pieces.reversed().joined()
    }

    private static func fitting(
        _ pieces: some Sequence<String>,
        _ width: Int
    ) -> (pieces: [String], width: Int) {
        var fitting: [String] = []
        var used = 0
        for piece in pieces {
            let own = of(piece)
            guard used + own <= width else { break }
            fitting.append(piece)
            used += own
        }
        return (fitting, used)
    }

    /// Returns the text with spaces up to a width.
    static func padded(_ text: String, to width: Int, isRight: Bool = false) -> String {
        let spaces = String(repeating: " ", count: max(0, width - of(text)))
        return isRight ? spaces + text : text + spaces
    }
}
