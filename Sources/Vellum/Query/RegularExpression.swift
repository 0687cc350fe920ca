internal import Foundation
internal import VellumCore
internal import VellumEngine

/// A regular expression that is compiled once. An invalid one matches nothing.
struct RegularExpression {
    private let expression: NSRegularExpression?
    /// The error of an invalid expression. It says where the pattern is invalid, and does not contain the pattern.
    let problem: VellumError?

    init(_ pattern: String) {
        do {
            expression = try NSRegularExpression(pattern: pattern)
            problem = nil
        } catch {
            expression = nil
            problem = VellumError(
                .invalidQuery,
                "A regular expression in a query is \(Self.fault(of: pattern)), and matches nothing. Correct the expression.")
        }
    }

    /// Returns what is wrong with an invalid pattern. Foundation does not say it, so this looks for the longest start that is valid, among
    /// the first 200 characters.
    private static func fault(of pattern: String) -> String {
        guard !pattern.isEmpty else { return "empty" }
        var valid = pattern.prefix(200)
        while !valid.isEmpty, !isValid(String(valid)) { valid.removeLast() }
        return "invalid from character \(valid.count + 1) on"
    }

    private static func isValid(_ pattern: String) -> Bool {
        do {
            _ = try NSRegularExpression(pattern: pattern)
            return true
        } catch {
            return false
        }
    }

    /// Returns whether the expression has a match in the string.
    func matches(_ string: String) -> Bool {
        guard let expression else { return false }
        return expression.firstMatch(in: string, range: NSRange(string.startIndex..., in: string)) != nil
    }
}
