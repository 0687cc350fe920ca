package import VellumCore

/// One row of the table of parameters: what calls with a parameter do with values that are
/// negative, zero, huge, NaN, empty, very long, or contain U+0000. None ends the process. The guide
/// *Errors and damage* says the same in words.
///
/// The names of the parameters, such as `"ArchiveStore.keys limit"`, are those of
/// `Documentation/API`: `Scripts/check_structure.py` finds the rows of all test targets by them,
/// and fails for a parameter that has none.
package struct InputCase: Sendable, CustomStringConvertible {
    package let description: String
    /// Calls with each value. Returns what was not expected.
    package let problems: @Sendable () async -> [String]

    /// - Parameters:
    ///   - expected: The code of the error for a value; `nil` if there must be none.
    ///   - call: The call.
    package init<Value: Sendable>(
        _ parameters: String...,
        of values: [Value],
        throwing expected: @escaping @Sendable (Value) -> VellumError.Code? = { _ in nil },
        _ call: @escaping @Sendable (Value) async throws -> Void
    ) {
        description = parameters.joined(separator: ", ")
        problems = {
            var problems: [String] = []
            for value in values {
                var (thrown, message): (VellumError.Code?, String) = (nil, "no error")
                do { try await call(value) } catch {
                    (thrown, message) = (Self.code(of: error) ?? .loadFailed, "\(error)")
                }
                if thrown != expected(value) {
                    problems.append("\("\(value)".prefix(60)): \(message)")
                }
            }
            return problems
        }
    }

    private static func code(of error: any Error) -> VellumError.Code? {
        (error as? VellumError)?.code ?? (error as? any CodedError)?.code
    }
}

/// An error with a code of this package, which its module makes one for tests.
package protocol CodedError: Error {
    var code: VellumError.Code { get }
}

/// The values of the table.
package enum HostileInput {
    package static let counts = [Int.min, -1, 0, 1, .max]
    package static let sizes: [DataSize] = [
        .bytes(.min), -1, 0, .bits(1), .gigaBytes(.max), .unlimited, .megaBytes(.nan),
        .bytes(-.infinity),
    ]
    package static let durations: [Duration] = [
        .seconds(Int64.min), .seconds(-1), .nanoseconds(-1), .zero, .nanoseconds(1),
        .seconds(Int64.max),
    ]
    package static let seconds = [
        -Double.infinity, -.greatestFiniteMagnitude, -1, -0.0, 0, .leastNonzeroMagnitude,
        .greatestFiniteMagnitude, .infinity, .nan,
    ]
    package static let names = [
        "", "\0", "a\0b", "..", "a/b", "%00", "\u{1F600}", String(repeating: "n", count: 70_000),
    ]
    /// Names that can be a key.
    package static let keys = names.dropLast()

    package static func isValid(_ limit: DataSize) -> VellumError.Code? {
        limit.bytes > 0 ? nil : .invalidLimit
    }
    package static func isValid(_ seconds: Double) -> VellumError.Code? {
        seconds.isNaN ? .invalidDuration : nil
    }
    package static func isValid(_ key: String) -> VellumError.Code? {
        key.utf8.count > EntryKey.maximumLength ? .keyTooLong : nil
    }
}
