internal import VellumCore

/// What values say that are not what they seem, for stores that write down that there is nothing, or whose readers differ in what
/// they can read.
package struct Tombstone<Value: Sendable>: Sendable {
    /// What a value says to one reader.
    package enum Meaning: Sendable {
        case value
        /// That there is nothing.
        case nothing
        /// Nothing that this reader can read: as good as none.
        case unreadable
    }

    let value: Value
    let meaning: @Sendable (Value) -> Meaning

    /// - Parameters:
    ///   - value: What is recorded when a loader returns `nil`, for as long as ``LoadOptions/negativeMaxAge`` says.
    ///   - meaning: What a value says that was found.
    package init(_ value: Value, meaning: @escaping @Sendable (Value) -> Meaning) {
        self.value = value
        self.meaning = meaning
    }
}
