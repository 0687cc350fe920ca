import Foundation
import TestThreads
import Testing
import VellumCore
import VellumEngine

@testable import Vellum

/// Which conditions of a predicate are pushed down.
@Suite(.ownThreads)
struct PredicateRelationTests {
    typealias Sample = QuerySample

    static let unrelated: [Predicate<Sample>] = [
        #Predicate { ($0.small ?? 0) + 1 > 1 }, #Predicate { $0.integer + 1 > 3 },
        #Predicate { $0.name.contains("a") }, #Predicate { $0.ratio == $0.ratio },
        #Predicate { $0.tags.contains { $0 == "a" } },
        #Predicate { $0.otherAddress?.city == "Oslo" },
        #Predicate { if let small = $0.small { small > 0 } else { true } },
    ]

    @Test(arguments: unrelated)
    func throwingAndComputedPartsAreNotPushedDown(predicate: Predicate<Sample>) {
        #expect(Condition(predicate).relations.isEmpty)
    }

    /// The value in the place of `nil` decides whether `nil` is found.
    @Test func aConstantInThePlaceOfNilIsPushedDown() throws {
        let found: [(Predicate<Sample>, Bool)] = [
            (#Predicate { ($0.small ?? 0) > 1 }, false), (#Predicate { ($0.small ?? 2) > 1 }, true),
            (#Predicate { 1 >= ($0.small ?? 1) }, true),
            (#Predicate { 1 >= ($0.small ?? 2) }, false),
            (#Predicate { ($0.nick ?? "a") == "a" }, true),
            (#Predicate { ($0.nick ?? "a") != "a" }, false),
            (#Predicate { ($0.nick ?? "b") == "a" }, false),
            (#Predicate { ($0.nick ?? "b") != "a" }, true),
        ]
        for (predicate, findsNil) in found {
            let condition = Condition(predicate)
            #expect(!condition.relations.isEmpty)
            #expect(try condition.matches(Sample(small: nil, nick: nil)) == findsNil)
        }
    }

    struct Parcel: ArchiveCodable, IndexedArchivable {
        var primaryKey = ""
        var sender: Person?
        var lines: [Person?] = []

        struct Person: Codable, Equatable {
            var name = ""
            var house: House?
            var shout: String { name + "!" }
        }
        struct House: Codable, Equatable {
            var city = ""
            var floor: Int?
        }

        static var archiveIndexes: [ArchiveIndex<Parcel>] {
            [
                .index(\.sender?.name), .index(\.sender?.house?.floor),
                .index(\.sender?.house?.city, \.primaryKey),
                .index(\.sender?.shout),
                .index(\.lines[0]?.name),
            ]
        }
    }

    /// Optional chains are found by the text of their key paths, which Swift does not promise. If
    /// this fails, adapt `PropertyChain`.
    @Test func theTextOfAKeyPathNamesItsProperties() {
        #expect((\Parcel.sender?.name).debugDescription == "\\Parcel.sender?.name?")
        #expect((\Parcel.sender?.house?.floor).debugDescription == "\\Parcel.sender?.house?.floor")
        #expect((\Parcel.self).debugDescription == "\\Parcel.self")
        #expect((\Parcel.sender?.shout).debugDescription.contains("<"))
    }

    /// No key path can be made of the parts of a predicate that equals the one of the index.
    @Test func anOptionalChainUsesTheIndexThatIsDescribedInTheSameWay() throws {
        let found: [(Predicate<Parcel>, AnyKeyPath)] = [
            (#Predicate { $0.sender?.name == "Ida" }, \Parcel.sender?.name),
            (#Predicate { $0.sender?.name == nil }, \Parcel.sender?.name),
            (#Predicate { ($0.sender?.name ?? "Ida") < "Jo" }, \Parcel.sender?.name),
            (#Predicate { $0.sender?.house?.floor != 3 }, \Parcel.sender?.house?.floor),
            (#Predicate { $0.sender?.house?.city == "Bern" }, \Parcel.sender?.house?.city),
        ]
        for (predicate, path) in found {
            #expect(Condition(predicate).properties == [path], "\(predicate)")
        }
        // Swift describes such properties by addresses.
        let computed: [Predicate<Parcel>] = [
            #Predicate { $0.sender?.shout == "Ida!" }, #Predicate { $0.lines[0]?.name == "Ida" },
        ]
        for predicate in computed { #expect(Condition(predicate).relations.isEmpty) }
    }

    /// Elsewhere, Foundation throws for `nil`.
    @Test func forcedUnwrappingIsPushedDownOnlyAfterATestForNil() {
        let unchecked: [Predicate<Sample>] = [
            #Predicate { $0.small! > 0 }, #Predicate { $0.small! > 0 && $0.small != nil },
            #Predicate { $0.nick != nil && $0.small! > 0 },
            #Predicate { $0.small == nil && $0.small! > 0 },
            #Predicate { ($0.small != nil || $0.isMarked) && $0.small! > 0 },
        ]
        for predicate in unchecked { #expect(!Condition(predicate).hasRange, "\(predicate)") }

        let checked: [Predicate<Sample>] = [
            #Predicate { $0.small != nil && $0.small! > 0 },
            #Predicate { nil != $0.small && 0 < $0.small! },
            #Predicate {
                !($0.small == nil) && $0.isMarked && ($0.integer == 1 || !($0.small! > 0))
            },
            #Predicate { $0.small != nil && ($0.isMarked && (0...9).contains($0.small!)) },
        ]
        for predicate in checked {
            let condition = Condition(predicate)
            #expect(condition.hasRange, "\(predicate)")
            #expect(condition.properties.contains(\Sample.small), "\(predicate)")
        }
    }

    @Test func unwrappedValuesUseTheIndexOfTheirOptional() {
        let found: [(Predicate<Sample>, AnyKeyPath)] = [
            (#Predicate { $0.nick != nil && $0.nick! == "a" }, \Sample.nick),
            (#Predicate { $0.nick != nil && $0.nick!.starts(with: "a") }, \Sample.nick),
            (#Predicate { $0.mark != nil && $0.mark! }, \Sample.mark),
            (#Predicate { $0.numbers != nil && $0.numbers!.contains(3) }, \Sample.numbers),
        ]
        for (predicate, path) in found {
            let condition = Condition(predicate)
            #expect(condition.relations.count == 2, "\(predicate)")
            #expect(condition.properties == [path], "\(predicate)")
        }
    }

    @Test func aForcedUnwrapInAChainUsesTheIndexOfTheOptionalChain() {
        let found: [(Predicate<Parcel>, AnyKeyPath)] = [
            (#Predicate { $0.sender != nil && $0.sender!.name == "Ida" }, \Parcel.sender?.name),
            (
                #Predicate { $0.sender != nil && $0.sender!.house?.floor == 3 },
                \Parcel.sender?.house?.floor
            ),
        ]
        for (predicate, path) in found {
            #expect(Condition(predicate).properties == [\Parcel.sender, path], "\(predicate)")
        }
        #expect(ValueCondition<Parcel>(#Predicate { $0.sender!.name == "Ida" }).relations.isEmpty)
    }

    @Test func nestedPropertiesUseTheIndex() throws {
        let condition = Condition(#Predicate<Sample> { $0.address.city == "Oslo" })
        guard case .test(let test) = condition else { throw Unexpected() }

        #expect(test.property == \Sample.address.city)
    }

    @Test func comparisonsWithTheConstantOnTheLeftAreMirrored() throws {
        let condition = Condition(#Predicate<Sample> { 5 < $0.integer })
        guard case .test(let test) = condition, case .isBetween(let lower, nil) = test.relation
        else { throw Unexpected() }

        #expect(lower?.value as? Int == 5)
        #expect(lower?.isIncluded == false)
    }

    @Test func notEqualFindsNil() throws {
        let condition = Condition(#Predicate<Sample> { $0.nick != "a" })

        #expect(try condition.matches(Sample(nick: nil)))
        #expect(condition.relations.count == 1)
    }

    @Test func comparingWithNilTestsForNil() throws {
        let predicates: [Predicate<Sample>] = [
            #Predicate { $0.nick == nil }, #Predicate { nil != $0.nick },
        ]
        for predicate in predicates {
            guard case .isNil? = Condition(predicate).relations.first else { throw Unexpected() }
        }
    }

    @Test func partsWithAnIndexArePushedDownBesidePartsWithout() {
        let condition = Condition(
            #Predicate<Sample> { $0.integer == 5 && $0.name.contains("a") && $0.isMarked }
        )

        #expect(condition.relations.count == 2)
    }

    @Test func userDefinedOrdersAreNotPushedDown() {
        struct Reversed: Comparable, Codable, RawRepresentable {
            var rawValue: Int
            static func < (left: Reversed, right: Reversed) -> Bool {
                left.rawValue > right.rawValue
            }
        }
        struct Holder {
            var value = Reversed(rawValue: 1)
        }
        let limit = Reversed(rawValue: 5)

        #expect(Condition(#Predicate<Holder> { $0.value < limit }).relations.isEmpty)
        #expect(Condition(#Predicate<Holder> { $0.value == limit }).relations.count == 1)
        #expect(QuerySorter<Holder>().value(.ascending).orderings[0].property == nil)
    }

    @Test func sequencesThatAreNotCollectionsAreNotPushedDown() throws {
        let steps = stride(from: 0, to: 10, by: 5)
        let condition = Condition(
            Predicate<Sample> { sample in
                PredicateExpressions.build_contains(
                    PredicateExpressions.Value(Array(steps)),
                    PredicateExpressions.build_KeyPath(root: sample, keyPath: \.integer)
                )
            }
        )

        #expect(condition.relations.count == 1)
        #expect(try condition.matches(Sample(integer: 5)))
    }

    struct Unexpected: Error {}
}

extension Condition where Leaf: RelatedTest {
    fileprivate var hasRange: Bool {
        relations.contains { relation in if case .isBetween = relation { true } else { false } }
    }
}
