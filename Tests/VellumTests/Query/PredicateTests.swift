import Foundation
import TestThreads
import Testing
import VellumCore
import VellumEngine

@testable import Vellum

/// A compiled predicate returns the same and throws the same as Foundation.
@Suite(.ownThreads)
struct PredicateTests {
    typealias Sample = QuerySample

    static let samples: [Sample] = [
        Sample(),
        Sample(
            integer: 5,
            small: 3,
            name: "Swift is fun",
            nick: "ab",
            tags: ["a", "abc", "x"],
            numbers: [1, 2]
        ),
        Sample(
            integer: 7,
            small: -3,
            ratio: 2.5,
            name: "ab",
            nick: "",
            isMarked: true,
            mark: false,
            numbers: []
        ),
        Sample(
            integer: 8,
            ratio: .nan,
            name: "b",
            mark: true,
            tags: ["ab"],
            otherKind: .large,
            otherAddress: .init(city: "Bergen")
        ),
    ]

    static let connectives: [Predicate<Sample>] = [
        #Predicate { _ in true }, #Predicate { $0.isMarked },
        #Predicate { !$0.isMarked && $0.integer > 3 },
        #Predicate { $0.integer == 5 || $0.name == "b" },
        #Predicate { $0.isMarked ? $0.integer == 7 : $0.name == "b" },
        #Predicate { $0.isMarked == $0.isOdd }, #Predicate { ($0.integer > 5) == $0.isMarked },
        #Predicate { ($0.mark ?? false) || $0.tags.isEmpty },
        #Predicate { if $0.isMarked { $0.integer == 7 } else { $0.integer == 5 } },
    ]

    static let numbers: [Predicate<Sample>] = [
        #Predicate { $0.integer * 2 + 1 == 11 }, #Predicate { $0.integer - 1 >= 6 },
        #Predicate { -$0.integer < -5 },
        #Predicate { $0.integer % 2 == 1 }, #Predicate { $0.integer / 2 == 4 },
        #Predicate { $0.ratio / 2 == 1.25 },
        #Predicate { $0.ratio != $0.ratio }, #Predicate { $0.ratio > -1 },
        #Predicate { (5...7).contains($0.integer) },
        #Predicate { (-9..<$0.integer).contains(6) }, #Predicate { (0...$0.integer).contains(6) },
        #Predicate { (($0.small ?? 0) as Int8) < 0 }, #Predicate { ($0.small ?? 1) == 1 },
    ]

    static let optionals: [Predicate<Sample>] = [
        #Predicate { $0.small == nil }, #Predicate { nil != $0.nick },
        #Predicate { $0.nick != "ab" }, #Predicate { "ab" == $0.nick },
        #Predicate { $0.otherAddress?.city == "Bergen" }, #Predicate { $0.nick?.count == 2 },
        #Predicate { $0.nick?.isEmpty ?? true },
        #Predicate { $0.small.flatMap { $0 > 0 } == true },
        #Predicate { $0.small.flatMap { $0 > 0 } == false },
        #Predicate { $0.small.flatMap { $0 > 0 } != true },
        #Predicate { $0.small.flatMap { $0 > 0 } == nil },
        #Predicate { if let small = $0.small { small > 0 } else { true } },
        #Predicate { sample in
            if let small = sample.small { small > 0 && sample.integer == 5 } else { false }
        },
        #Predicate { if let small = $0.small { !(small > 0) } else { false } },
        #Predicate { if let address = $0.otherAddress { address.city == "Bergen" } else { false } },
        #Predicate { sample in
            if let small = sample.small, let nick = sample.nick {
                small > 0 && nick == "ab"
            } else {
                false
            }
        },
        #Predicate { $0.mark.flatMap { $0 } == true },
    ]

    static let sequences: [Predicate<Sample>] = [
        #Predicate { $0.tags.contains("x") }, #Predicate { [5, 7].contains($0.integer) },
        #Predicate { $0.name.contains("is") },
        #Predicate { $0.name.contains("") }, #Predicate { $0.name.contains($0.nick ?? "") },
        #Predicate { $0.name.starts(with: "Sw") },
        #Predicate { $0.name.starts(with: $0.nick ?? "z") },
        #Predicate { $0.tags.contains { $0.count > 2 } },
        #Predicate { $0.tags.allSatisfy { $0.starts(with: "a") } },
        #Predicate { $0.tags.filter { $0 == "x" }.count == 1 },
        #Predicate { sample in
            sample.tags.contains { $0 == (sample.nick ?? "") || sample.name.contains($0) }
        },
        #Predicate { sample in
            sample.tags.allSatisfy { tag in
                sample.tags.contains { $0 == tag && sample.integer == 5 }
            }
        },
        #Predicate { $0.tags[0] == "a" },
        #Predicate { $0.tags.count == 1 }, #Predicate { $0.tags.isEmpty },
        #Predicate { $0.tags.first == "ab" },
        #Predicate { $0.numbers.flatMap { $0.contains(2) } == true },
        #Predicate { $0.numbers?.max() == 2 },
        #Predicate { ($0.numbers ?? [9]).min() == 9 },
        #Predicate { $0.tags.contains(["a", "abc"]) },
        #Predicate { $0.tags.starts(with: ["a"]) },
        #Predicate { sample in
            sample.small.flatMap { small in
                sample.tags.contains { tag in tag.count == 3 && small == 3 }
            } == true
        },
    ]

    private func compare(_ predicate: Predicate<Sample>) throws {
        let condition = Condition(predicate)
        let closure = try PredicateScope(predicate.variable).compiled(predicate.expression)
        for sample in Self.samples {
            let expected = Result { try predicate.evaluate(sample) }
            for evaluate in [closure, condition.matches, condition.evaluation()] {
                let found = Result { try evaluate(sample) }
                switch (found, expected) {
                case (.success(let found), .success(let expected)):
                    #expect(found == expected, "\(predicate) \(sample)")
                case (
                    .failure(let found as PredicateError), .failure(let expected as PredicateError)
                ): #expect(found == expected)
                default: Issue.record("\(found) is not \(expected): \(predicate)")
                }
            }
        }
    }

    @Test(arguments: connectives) func connectivesMatchFoundation(
        predicate: Predicate<Sample>
    ) throws { try compare(predicate) }
    @Test(arguments: numbers) func numbersMatchFoundation(predicate: Predicate<Sample>) throws {
        try compare(predicate)
    }
    @Test(arguments: optionals) func optionalsMatchFoundation(predicate: Predicate<Sample>) throws {
        try compare(predicate)
    }
    @Test(arguments: sequences) func sequencesMatchFoundation(predicate: Predicate<Sample>) throws {
        try compare(predicate)
    }

    @Test func forcedUnwrappingMatchesFoundation() throws {
        try compare(#Predicate { $0.nick!.isEmpty })
        try compare(#Predicate { $0.small! > 0 })
        try compare(#Predicate { $0.small != nil && $0.small! > 0 })
        try compare(#Predicate { $0.small != nil && !($0.small! > 0) })
        try compare(#Predicate { $0.nick != nil && $0.small! > 0 })
        try compare(#Predicate { $0.small != nil && $0.small! != 3 || $0.mark! })
        try compare(#Predicate { $0.mark != nil && $0.mark! })
        try compare(#Predicate { $0.nick != nil && ["ab", "c"].contains($0.nick!) })
        try compare(#Predicate { $0.numbers != nil && $0.numbers!.contains(2) })
    }

    @Test func forcedUnwrappingOfNilThrows() {
        let condition = ValueCondition<Sample>(#Predicate { $0.small! > 0 })

        #expect(throws: PredicateError.forceUnwrapFailure) { try condition.matches(Sample()) }
    }

    @Test func aSubscriptOutOfBoundsThrows() {
        let condition = ValueCondition<Sample>(#Predicate { $0.tags[3] == "a" })

        #expect(throws: PredicateError.invalidInput) { try condition.matches(Sample()) }
    }

    @Test func conjunctionsShortCircuit() throws {
        let condition = ValueCondition<Sample>(#Predicate { $0.small != nil && $0.small! > 0 })

        #expect(try !condition.matches(Sample()))
    }

    @Test func capturedValuesAreConstants() throws {
        let other = Sample(integer: 5)
        let set: Set<Int> = [5, 8]
        let range = 5...7

        let predicates: [Predicate<Sample>] = [
            #Predicate { $0.integer == other.integer }, #Predicate { set.contains($0.integer) },
            #Predicate { range.contains($0.integer) },
        ]
        for predicate in predicates {
            try compare(predicate)
            #expect(Condition(predicate).relations.count == 1)
        }
    }

    @Test func regularExpressionsMatchFoundation() throws {
        let regex = /^S.*n$/
        try compare(#Predicate { $0.name.contains(regex) })
    }
}

protocol RelatedTest {
    var property: AnyKeyPath? { get }
    var relation: PropertyRelation? { get }
}

extension VellumEngine.Test: RelatedTest {}

extension Condition where Leaf: RelatedTest {
    private var tests: [Leaf] {
        switch self {
        case .all(let parts), .any(let parts): parts.flatMap(\.tests)
        case .not(let part): part.tests
        case .test(let test): [test]
        }
    }

    /// The relations of the condition, for an index.
    var relations: [PropertyRelation] { tests.compactMap(\.relation) }

    /// The properties of the relations.
    var properties: Set<AnyKeyPath> {
        Set(tests.compactMap { $0.relation == nil ? nil : $0.property })
    }
}
