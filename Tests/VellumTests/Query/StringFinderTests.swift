import Foundation
import Testing
import Tiers

@testable import Vellum

/// The finders of strings, on strings that are not plain.
@Suite(.timeLimit(.minutes(1)))
struct StringFinderTests {
    @Test(arguments: QuerySample.names + ["Swift is fun", "abcabd", "aab"])
    func aPartIsFoundWhereSwiftFindsIt(string: String) {
        for part in QuerySample.names + ["is", "abd", "ab", "n"] {
            #expect(StringPart(part).isContained(in: string) == string.contains(part), "\(part.debugDescription)")
            let expected = string.lowercased().contains(part.lowercased())
            #expect(StringPart(part, caseSensitive: false).isContained(in: string) == expected)
        }
    }

    @Test(arguments: [("^b", true), ("B", false), ("(?i)B", true), ("b$", false), ("", true), ("é", false)])
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

    @Test func anExpressionIsMadeOnce() throws {
        let validator = QueryValidator<QuerySample, String>.matches(regex: "^a")

        #expect(try validator.condition(\.name).matches(QuerySample(name: "ab")))
        #expect(try !validator.condition(\.address.city).matches(QuerySample(name: "ab")))
    }
}
