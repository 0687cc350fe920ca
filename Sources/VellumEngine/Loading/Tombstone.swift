package import VellumCore

/// How a store records that there is no value, and which values a caller can read.
package struct Tombstone<Value: Sendable>: Sendable {
    /// What a value means to one caller.
    package enum Meaning: Sendable {
        case value
        /// There is no value.
        case nothing
        /// A value that this caller cannot read. It counts as missing.
        case unreadable
    }

    let value: Value
    let meaning: @Sendable (Value, EntryKey) -> Meaning

    /// - Parameters:
    ///   - value: What is recorded when a loader returns `nil`, for as long as ``LoadOptions/negativeMaxAge`` says.
    ///   - meaning: Returns what a value that was found means.
    package init(_ value: Value, meaning: @escaping @Sendable (Value, EntryKey) -> Meaning) {
        self.value = value
        self.meaning = meaning
    }
}
