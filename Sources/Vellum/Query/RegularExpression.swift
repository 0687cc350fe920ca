internal import Foundation
internal import VellumCore
internal import VellumEngine

/// A regular expression that is compiled once. An invalid one matches nothing.
struct RegularExpression {
    private let expression: NSRegularExpression?
    /// The error of an invalid expression. It does not contain the pattern.
    let problem: VellumError?

    init(_ pattern: String) {
        do {
            expression = try NSRegularExpression(pattern: pattern)
            problem = nil
        } catch {
            expression = nil
            problem = VellumError(.invalidQuery, "A regular expression in a query is invalid and matches nothing. Correct the expression.")
        }
    }

    /// Returns whether the expression has a match in the string.
    func matches(_ string: String) -> Bool {
        guard let expression else { return false }
        return expression.firstMatch(in: string, range: NSRange(string.startIndex..., in: string)) != nil
    }
}
