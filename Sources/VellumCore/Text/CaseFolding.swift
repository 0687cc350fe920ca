/// Case folding and the removal of diacritics by the tables of Unicode 15.0, whatever tables the
/// system has and whatever the locale.
package enum CaseFolding {
    /// Returns the string after full case folding (`CaseFolding.txt`, C and F), in normal form C.
    /// Strings that are canonically equivalent have the same folding (The Unicode Standard, 3.13,
    /// D145), and a folding is its own folding.
    ///
    /// - Parameter keepsDiacritics: Whether accents, and the points of Hebrew, Arabic and Syriac,
    ///   stay.
    /// - Complexity: O(n); O(n log n) in the longest run of combining marks.
    package static func folded(_ string: String, keepsDiacritics: Bool) -> String {
        var string = string
        let folded: String? = string.withUTF8 { text in
            if text.allSatisfy({ $0 < 0x80 }) { return foldedASCII(text) }
            return (keepsDiacritics ? withDiacritics : withoutDiacritics).folded(text)
        }
        return folded ?? tables.folded(string, keepsDiacritics: keepsDiacritics)
    }

    private static func foldedASCII(_ text: UnsafeBufferPointer<UInt8>) -> String {
        String(unsafeUninitializedCapacity: text.count) { folded in
            for index in text.indices { folded[index] = lowercased(text[index]) }
            return text.count
        }
    }

    fileprivate static func lowercased(_ byte: UInt8) -> UInt8 {
        byte &- 0x41 < 26 ? byte | 0x20 : byte
    }

    private static let tables = CaseFoldingTables(data)
    private static let withDiacritics = SeparateFoldings(tables, keepsDiacritics: true)
    private static let withoutDiacritics = SeparateFoldings(tables, keepsDiacritics: false)
}

/// What each character of a decomposed string is replaced with.
private struct CaseFoldingTables: Sendable {
    /// The characters that are folded, and what each becomes: no decomposition, and no mark.
    private var foldings: [UInt32: [UInt32]] = [:]
    private var diacritics: Set<UInt32> = []

    init(_ data: StaticString) {
        let next = numbers(in: data)
        var scalar: UInt32 = 0
        for _ in 0..<next() {
            scalar += next()
            let run = next()
            let distance = next()
            for index in 0..<run >> 1 {
                let member = scalar + index * (1 + run & 1)
                foldings[member] = [
                    distance & 1 == 0 ? member + distance >> 1 : member - distance >> 1
                ]
            }
        }
        scalar = 0
        for _ in 0..<next() {
            scalar += next()
            foldings[scalar] = (0..<next()).map { _ in next() }
        }
        scalar = 0
        for _ in 0..<next() {
            scalar += next()
            diacritics.formUnion(scalar..<scalar + next())
        }
    }

    /// The characters that are not their own folding, or are no letters that stand for themselves.
    var characters: Set<UInt32> {
        diacritics.union(foldings.keys).union(NormalForm.tables.characters)
    }

    func folded(_ string: String, keepsDiacritics: Bool) -> String {
        let characters = NormalForm.tables.decomposed(string)
        var folded: [NormalFormTables.Character] = []
        folded.reserveCapacity(characters.count)
        for character in characters where keepsDiacritics || !diacritics.contains(character.value) {
            if let parts = foldings[character.value] {
                for part in parts { folded.append((part, 0)) }
            } else {
                folded.append(character)
            }
        }
        return NormalForm.tables.composed(folded)
    }
}

/// The foldings of characters that do not depend on their neighbours: of all letters, but not of
/// marks that stay.
private struct SeparateFoldings: Sendable {
    /// 0 is a character that stays as it is, `dependent` one that depends on its neighbours, and
    /// any other number a place in `foldings`.
    private var places = CharacterTable()
    private var foldings: [[UInt8]] = [[]]
    private static let dependent: UInt16 = .max

    init(_ tables: CaseFoldingTables, keepsDiacritics: Bool) {
        for character in tables.characters.lazy.compactMap({ Unicode.Scalar($0) }) {
            let folded = tables.folded(String(character), keepsDiacritics: keepsDiacritics)
            if !folded.unicodeScalars.allSatisfy({ NormalForm.tables.isSeparate($0.value) }) {
                places[character.value] = Self.dependent
            } else if !folded.unicodeScalars.elementsEqual([character]) {
                places[character.value] = UInt16(foldings.count)
                foldings.append(Array(folded.utf8))
            }
        }
    }

    /// Returns `nil` if there is a character that depends on its neighbours.
    func folded(_ text: UnsafeBufferPointer<UInt8>) -> String? {
        var folded: [UInt8] = []
        folded.reserveCapacity(text.count + text.count / 2)
        var index = 0
        while index < text.count {
            let first = text[index]
            guard first >= 0x80 else {
                folded.append(CaseFolding.lowercased(first))
                index += 1
                continue
            }
            let end = index + (first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4)
            // The first byte has as many bits of the number as the length leaves.
            var scalar = UInt32(first) & (0x7F >> UInt32(end - index))
            for next in text[index + 1..<end] { scalar = scalar << 6 | UInt32(next & 0x3F) }
            switch places[scalar] {
            case 0: folded.append(contentsOf: text[index..<end])
            case Self.dependent: return nil
            case let place: folded.append(contentsOf: foldings[Int(place)])
            }
            index = end
        }
        return String(decoding: folded, as: UTF8.self)
    }
}
