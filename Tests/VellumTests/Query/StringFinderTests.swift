import Foundation
import Testing
import Tiers

@testable import Vellum

/// The finders of strings, on strings that are not plain.
@Suite(.timeLimit(.minutes(10)))
struct StringFinderTests {
    @Test(arguments: QuerySample.names + ["Swift is fun", "abcabd", "aab"])
    func aPartIsFoundWhereSwiftFindsIt(string: String) {
        for part in QuerySample.names + ["is", "abd", "ab", "n"] {
            #expect(StringPart(part).isContained(in: string) == contains(string, part), "\(part.debugDescription)")
            let expected = contains(string.lowercased(), part.lowercased())
            #expect(StringPart(part, caseSensitive: false).isContained(in: string) == expected)
        }
    }

    /// By characters: the method that Foundation adds to strings compares otherwise.
    private func contains<Whole: Collection<Character>>(_ string: Whole, _ part: some Collection<Character>) -> Bool {
        string.contains(part)
    }

    @Test(arguments: [("^b", true), ("B", false), ("(?i)B", true), ("b$", false), ("é", false)])
    func aRegularExpressionMatchesAnywhere(pattern: String, isFound: Bool) {
        let expression = RegularExpression(pattern)

        #expect(expression.matches("bc") == isFound)
        #expect(expression.problem == nil)
    }

    @Test func anInvalidRegularExpressionIsAProblemThatHoldsNoPattern() throws {
        let query = Query<QuerySample>.findWhere { $0.name(.matches(regex: "secret(")).nick(.isNil()) }

        #expect(query.problems.map(\.code) == [.invalidQuery])
        #expect(try !String(reflecting: #require(query.problems.first)).contains("secret"))
        guard case .filter(let condition) = query.step else { throw CocoaError(.featureUnsupported) }
        #expect(try !condition.matches(QuerySample(name: "secret(")))
    }

    @Test func anEmptyRegularExpressionMatchesNothing() {
        #expect(!RegularExpression("").matches("bc"))
        #expect(RegularExpression("").problem != nil)
    }

    @Test func anExpressionIsMadeOnce() throws {
        let validator = QueryValidator<QuerySample, String>.matches(regex: "^a")

        #expect(try validator.condition(\.name).matches(QuerySample(name: "ab")))
        #expect(try !validator.condition(\.address.city).matches(QuerySample(name: "ab")))
    }
}
