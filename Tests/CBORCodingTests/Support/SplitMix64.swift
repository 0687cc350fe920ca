/// A seeded random number generator (Steele, Lea and Flood, OOPSLA 2014).
struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    /// Returns a random number below `bound`.
    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    /// Returns true with probability `1 / times`.
    mutating func oneIn(_ times: Int) -> Bool { below(times) == 0 }

    mutating func element<Choices: Collection>(of choices: Choices) -> Choices.Element {
        choices[choices.index(choices.startIndex, offsetBy: below(choices.count))]
    }

    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }

    /// Returns a random text of at most `count` characters.
    mutating func text(upTo count: Int = 12) -> String {
        let letters = [
            "a", "b", "Z", "0", " ", "\"", "\\", "\n", "\u{7F}", "é", "e\u{301}", "ß", "水", "🏳️‍🌈",
            "\u{FFFD}",
        ]
        return (0..<below(count + 1)).map { _ in element(of: letters) }.joined()
    }
}
