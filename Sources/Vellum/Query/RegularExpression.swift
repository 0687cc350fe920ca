internal import Foundation
internal import VellumCore
internal import VellumEngine

/// A regular expression that is made once, and matches nothing if it cannot be made.
struct RegularExpression {
    private let expression: NSRegularExpression?
    /// Why it matches nothing. Does not hold the pattern.
    let problem: VellumError?

    init(_ pattern: String) {
        do {
            expression = try NSRegularExpression(pattern: pattern)
            problem = nil
        } catch {
            expression = nil
            problem = VellumError(.invalidQuery, "A regular expression of a query is not valid, so it matches nothing. Correct it.")
        }
    }

    /// Whether it matches anywhere in the string.
    func matches(_ string: String) -> Bool {
        guard let expression else { return false }
        return expression.firstMatch(in: string, range: NSRange(string.startIndex..., in: string)) != nil
    }
}
