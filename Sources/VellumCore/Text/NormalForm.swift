/// Normal form C of Unicode 15.0 (Unicode Standard Annex 15), whatever tables the system has: the
/// same string has the same key everywhere.
///
/// It agrees with Swift's `==` for all characters of Unicode 15.0, which every supported version of
/// Swift knows, but U+0344, U+0F73, U+0F75 and U+0F81: marks that consist of two marks, which Swift
/// 6.3 does not reorder among others. Newer characters stay as they are (decision 3).
enum NormalForm {
    /// Returns the normal form, in contiguous UTF-8.
    ///
    /// - Complexity: O(n log n) in the longest run of combining marks.
    static func of(_ string: String) -> String {
        var string = string
        string.makeContiguousUTF8()
        return tables.isNormal(string) ? string : tables.composed(tables.decomposed(string))
    }

    /// Whether Swift's `==` and the normal form surely agree on the string: it has none of the four
    /// marks, and no characters that are newer than Unicode 15.0 and may be composed or reordered
    /// in a later version, which are letters and marks only.
    static func isCertain(_ string: String) -> Bool {
        string.utf8.allSatisfy { $0 < 0xCC } || string.unicodeScalars.allSatisfy(isCertain)
    }

    private static func isCertain(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.value >= 0x300 else { return true }
        if [0x344, 0xF73, 0xF75, 0xF81].contains(scalar.value) { return false }
        let properties = scalar.properties
        if let age = properties.age, age.major <= 15 { return true }
        switch properties.generalCategory {
        case .otherSymbol, .mathSymbol, .currencySymbol, .privateUse, .otherPunctuation,
            .decimalNumber:
            return true
        default: return false
        }
    }

    static let tables = NormalFormTables(data)
}

/// The canonical decompositions, compositions and combining classes of characters.
struct NormalFormTables: Sendable {
    private typealias Parts = (first: UInt32, second: UInt32)
    /// A character of a decomposed string, with its combining class.
    typealias Character = (value: UInt32, combining: UInt16)

    /// Marks what may be composed with what is before it, or never stands in a normal form. The
    /// lower bits are the class.
    private static let mayChange: UInt16 = 256
    private var properties = CharacterTable()
    private var decompositions: [UInt32: Parts] = [:]
    private var compositions: [UInt64: UInt32] = [:]

    init(_ data: StaticString) {
        let next = numbers(in: data)
        var scalar: UInt32 = 0
        for _ in 0..<next() {
            let step = next()
            let parts = Parts(next(), next())
            scalar += step >> 1
            decompositions[scalar] = parts
            if step & 1 == 1 {
                compositions[Self.pair(parts.first, parts.second)] = scalar
                properties[parts.second] |= Self.mayChange
            } else {
                properties[scalar] |= Self.mayChange
            }
        }
        scalar = 0
        for _ in 0..<next() {
            scalar += next()
            let count = next()
            let combining = UInt16(truncatingIfNeeded: next())
            for mark in scalar..<scalar + count { properties[mark] |= combining }
        }
        for jamo in [Hangul.vowels, Hangul.finals].joined() {
            properties[jamo] |= Self.mayChange
        }
    }

    private static func pair(_ first: UInt32, _ second: UInt32) -> UInt64 {
        UInt64(first) << 32 | UInt64(second)
    }

    /// The characters that are decomposed, reordered, or composed with what is before them.
    var characters: Set<UInt32> { Set(decompositions.keys).union(properties.characters) }

    /// Whether the character is neither reordered nor composed with what is before it.
    func isSeparate(_ scalar: UInt32) -> Bool { properties[scalar] == 0 }

    /// Whether the string surely is its own normal form: the quick check of UAX 15, 9.
    func isNormal(_ string: String) -> Bool {
        var last: UInt16 = 0
        for scalar in string.unicodeScalars {
            let property = properties[scalar.value]
            if property != 0, property >= Self.mayChange || property < last { return false }
            last = property
        }
        return true
    }

    /// Returns the characters of normal form D.
    func decomposed(_ string: String) -> [Character] {
        var characters: [Character] = []
        characters.reserveCapacity(string.utf8.count)
        for scalar in string.unicodeScalars { decompose(scalar.value, into: &characters) }
        characters.withUnsafeMutableBufferPointer { sortMarks($0) }
        return characters
    }

    /// Returns normal form C of characters in normal form D.
    func composed(_ characters: [Character]) -> String {
        var composed: [UInt32] = []
        composed.reserveCapacity(characters.count)
        // Where the last character of class 0 stands, and the class of the last character that was
        // not composed with it.
        var starter: Int? = nil
        var last: UInt16 = 0
        for (value, combining) in characters {
            if let starter, last == 0 || last < combining,
                let composite = composite(composed[starter], value)
            {
                composed[starter] = composite
                continue
            }
            if combining == 0 { starter = composed.count }
            last = combining
            composed.append(value)
        }
        return String(decoding: composed, as: UTF32.self)
    }

    private func decompose(_ scalar: UInt32, into characters: inout [Character]) {
        if let parts = Hangul.parts(of: scalar) ?? decompositions[scalar] {
            decompose(parts.first, into: &characters)
            if parts.second != 0 { decompose(parts.second, into: &characters) }
        } else {
            characters.append((scalar, properties[scalar] & (Self.mayChange - 1)))
        }
    }

    /// Sorts each run of marks by their classes: the canonical order. Equal classes stay as they
    /// are, because `sort` is stable.
    private func sortMarks(_ characters: UnsafeMutableBufferPointer<Character>) {
        var start = 0
        while start < characters.count {
            let end = characters[start...].firstIndex { $0.combining == 0 } ?? characters.count
            if end - start > 1 {
                var run = UnsafeMutableBufferPointer(rebasing: characters[start..<end])
                run.sort { $0.combining < $1.combining }
            }
            start = end + 1
        }
    }

    private func composite(_ first: UInt32, _ second: UInt32) -> UInt32? {
        guard properties[second] >= Self.mayChange else { return nil }
        return Hangul.composite(first, second) ?? compositions[Self.pair(first, second)]
    }
}

/// The Korean syllables, which are composed by arithmetic (The Unicode Standard, 3.12).
private enum Hangul {
    private static let leads: Range<UInt32> = 0x1100..<0x1113
    static let vowels: Range<UInt32> = 0x1161..<0x1176
    static let finals: Range<UInt32> = 0x11A8..<0x11C3
    private static let syllables: Range<UInt32> = 0xAC00..<0xD7A4

    static func parts(of syllable: UInt32) -> (first: UInt32, second: UInt32)? {
        guard syllables.contains(syllable) else { return nil }
        let number = syllable - syllables.lowerBound
        let (open, final) = number.quotientAndRemainder(dividingBy: 28)
        if final > 0 { return (syllable - final, finals.lowerBound - 1 + final) }
        return (leads.lowerBound + open / 21, vowels.lowerBound + open % 21)
    }

    static func composite(_ first: UInt32, _ second: UInt32) -> UInt32? {
        if vowels.contains(second), leads.contains(first) {
            return syllables.lowerBound
                + ((first - leads.lowerBound) * 21 + second - vowels.lowerBound) * 28
        }
        guard finals.contains(second), syllables.contains(first),
            (first - syllables.lowerBound) % 28 == 0
        else { return nil }
        return first + second - (finals.lowerBound - 1)
    }
}
