/// Random numbers that a test can repeat: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    /// Returns one of the choices, of which there must be one.
    package mutating func element<Choices: Collection>(of choices: Choices) -> Choices.Element {
        guard let element = choices.randomElement(using: &self) else {
            preconditionFailure("There is nothing to choose from.")
        }
        return element
    }
}

extension Array {
    package func random(_ generator: inout SeededGenerator) -> Element {
        self[Int.random(in: 0..<count, using: &generator)]
    }

    package func randomOrNil(_ generator: inout SeededGenerator) -> Element? {
        Int.random(in: 0..<4, using: &generator) == 0 ? nil : random(&generator)
    }

    package func randomSome(_ generator: inout SeededGenerator) -> [Element] {
        (0..<Int.random(in: 0..<4, using: &generator)).map { _ in random(&generator) }
    }
}
