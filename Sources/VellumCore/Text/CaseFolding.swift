/// Case folding and the removal of diacritics by the tables of Unicode 15.0, whatever tables the system has and whatever the locale.
package enum CaseFolding {
    /// Returns the string after full case folding (`CaseFolding.txt`, C and F), in normal form C. Strings that are canonically equivalent have
    /// the same folding (The Unicode Standard, 3.13, D145), and a folding is its own folding.
    ///
    /// - Parameter keepsDiacritics: Whether accents, and the points of Hebrew, Arabic and Syriac, stay.
    /// - Complexity: O(n); O(n log n) in the longest run of combining marks.
    package static func folded(_ string: String, keepsDiacritics: Bool) -> String {
        var string = string
        return string.withUTF8 { foldedASCII($0) } ?? tables.folded(string, keepsDiacritics: keepsDiacritics)
    }

    /// Returns `nil` if there is a character that is not ASCII.
    private static func foldedASCII(_ text: UnsafeBufferPointer<UInt8>) -> String? {
        guard text.allSatisfy({ $0 < 0x80 }) else { return nil }
        return String(unsafeUninitializedCapacity: text.count) { folded in
            for index in text.indices {
                let byte = text[index]
                folded[index] = byte &- 0x41 < 26 ? byte | 0x20 : byte
            }
            return text.count
        }
    }

    private static let tables = CaseFoldingTables(data)
}

/// What each character of a decomposed string is replaced with.
private struct CaseFoldingTables: Sendable {
    /// Where the parts of the character begin in `parts`, four times, and their count. 0 is a character that stays as it is, and `diacritic` one
    /// that is left out.
    private var rules = CharacterTable()
    private var parts: [UInt32] = [0]
    private static let diacritic: UInt16 = .max

    init(_ data: StaticString) {
        let next = numbers(in: data)
        var scalar: UInt32 = 0
        for _ in 0..<next() {
            scalar += next()
            let (run, distance) = (next(), next())
            for index in 0..<run >> 1 {
                let member = scalar + index * (1 + run & 1)
                add([distance & 1 == 0 ? member + distance >> 1 : member - distance >> 1], for: member)
            }
        }
        scalar = 0
        for _ in 0..<next() {
            scalar += next()
            add((0..<next()).map { _ in next() }, for: scalar)
        }
        scalar = 0
        for _ in 0..<next() {
            scalar += next()
            for mark in scalar..<scalar + next() where rules[mark] == 0 { rules[mark] = Self.diacritic }
        }
    }

    private mutating func add(_ folding: [UInt32], for scalar: UInt32) {
        rules[scalar] = UInt16(parts.count << 2 | folding.count)
        parts += folding
    }

    func folded(_ string: String, keepsDiacritics: Bool) -> String {
        let normal = NormalForm.tables
        var folded: [NormalFormTables.Character] = []
        let characters = normal.decomposed(string)
        folded.reserveCapacity(characters.count)
        for character in characters {
            switch rules[character.value] {
            case 0: folded.append(character)
            case Self.diacritic: if keepsDiacritics { folded.append(character) }
            // U+0345 is a diacritic, too, and is folded to a letter.
            case _ where character.combining != 0 && !keepsDiacritics: break
            case let rule:
                let start = Int(rule >> 2)
                // No part is a mark.
                for part in parts[start..<start + Int(rule & 3)] { folded.append((part, 0)) }
            }
        }
        return normal.composed(folded)
    }
}
