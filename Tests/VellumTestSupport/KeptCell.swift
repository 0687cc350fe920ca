package import VellumCore

/// What was written before any load asked for an old value, and has expired: how it was written,
/// whose age it had, how durably, and whether the file was opened again since, without the setting.
package struct KeptCell: Sendable, CustomStringConvertible {
    package enum Write: CaseIterable, Sendable { case set, setIfAbsent, update, load }

    package var write: Write
    /// Whether it was given an age. If not, it has that of the handle.
    package var hasOwnAge: Bool
    package var durability: Durability
    package var isReopened: Bool

    package static let all = Write.allCases.flatMap { write in
        [false, true].flatMap { hasOwnAge in
            [Durability.relaxed, .crashSafe].flatMap { durability in
                [false, true].map {
                    KeptCell(
                        write: write,
                        hasOwnAge: hasOwnAge,
                        durability: durability,
                        isReopened: $0
                    )
                }
            }
        }
    }

    package var description: String {
        """
        \(write), \(hasOwnAge ? "own" : "handle's") age, \
        \(durability)\(isReopened ? ", reopened" : "")
        """
    }
}
